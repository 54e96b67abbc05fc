/** The rooms of the project and which doors are open between them. */
const only = (name, comment, from, to) => ({ name, comment, severity: 'error', from, to })

module.exports = {
  forbidden: [
    only('no-cycles', 'A cycle hides which room owns a thing.', {}, { circular: true }),
    only(
      'chokaq-stands-alone',
      'The retry core could be lifted out as a package: it imports nothing else of ours.',
      { path: '^src/chokaq/' },
      { path: '^src/', pathNot: '^src/chokaq/' },
    ),
    only(
      'kernel-is-pure',
      'The kernel has no servers, no clock of its own, no packages.',
      { path: '^src/chokaq/kernel/' },
      { pathNot: '^src/chokaq/kernel/' },
    ),
    only(
      'the-job-knows-no-transport',
      'Provisioning and the outbox know the kernel and postgres, not http, kafkajs or the composition root.',
      { path: '^src/(provisioning|outbox)/', pathNot: '/kafka-[^/]+\\.ts$' },
      { path: '^(src/(http|demo|intake|operations|app\\.ts|cli)|node_modules/(kafkajs|fastify))' },
    ),
    only(
      'kafkajs-behind-adapters',
      'kafkajs is imported in files named kafka-*.ts, the demo and the consumer kit only.',
      {
        path: '^(src|contracts)/',
        pathNot: '(/kafka-[^/]+\\.ts$|^src/demo/|^contracts/consumer/)',
      },
      { path: 'node_modules/kafkajs/' },
    ),
    only(
      'only-the-root-sees-everything',
      'app.ts composes; no room imports it but the command line and the demo.',
      { path: '^src/', pathNot: '^src/(cli|app\\.ts|commands/|demo/)' },
      { path: '^src/app\\.ts$' },
    ),
    only(
      'src-never-imports-tests',
      'Test support is never part of the product.',
      { path: '^src/' },
      { path: '^test/' },
    ),
    only(
      'no-orphans',
      'A file that nobody imports is dead.',
      { orphan: true, path: '^src/', pathNot: '^src/cli\\.ts$' },
      {},
    ),
  ],
  options: {
    doNotFollow: { path: 'node_modules' },
    tsConfig: { fileName: 'tsconfig.json' },
    tsPreCompilationDeps: true,
    enhancedResolveOptions: {
      exportsFields: ['exports'],
      conditionNames: ['import', 'node', 'default'],
    },
  },
}
