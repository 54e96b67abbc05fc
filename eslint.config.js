import js from '@eslint/js'
import prettier from 'eslint-config-prettier'
import tseslint from 'typescript-eslint'

export default tseslint.config(
  { ignores: ['dist/', 'coverage/', 'node_modules/', '.cache/'] },
  js.configs.recommended,
  ...tseslint.configs.strictTypeChecked,
  {
    languageOptions: {
      parserOptions: { projectService: true, tsconfigRootDir: import.meta.dirname },
    },
    rules: {
      '@typescript-eslint/no-floating-promises': 'error',
      '@typescript-eslint/consistent-type-imports': 'error',
      '@typescript-eslint/restrict-template-expressions': ['error', { allowNumber: true }],
      '@typescript-eslint/no-confusing-void-expression': ['error', { ignoreArrowShorthand: true }],
      'no-console': 'error',
      'no-restricted-properties': [
        'error',
        {
          object: 'process',
          property: 'env',
          message: 'Only src/config reads the environment; take options as a parameter.',
        },
      ],
      'max-lines': ['error', { max: 250, skipBlankLines: false, skipComments: false }],
    },
  },
  {
    // The database's clock decides; a host's clock may be wrong, jump, or stand in another zone.
    files: ['src/{provisioning,outbox,intake,postgres,chokaq}/**'],
    rules: {
      'no-restricted-syntax': [
        'error',
        ...['NewExpression[callee.name="Date"]', 'MemberExpression[object.name="Date"]'].map(
          (selector) => ({ selector, message: "Use the database's clock, or a monotonic one." }),
        ),
      ],
    },
  },
  {
    files: ['src/config/**', 'test/**', 'scripts/**', 'bench/**', '*.config.*'],
    rules: { 'no-restricted-properties': 'off' },
  },
  {
    files: ['**/*.js', '**/*.cjs', '**/*.mjs'],
    ...tseslint.configs.disableTypeChecked,
  },
  {
    // What runs in a browser, as it is.
    files: ['src/http/deck/assets/*.js'],
    languageOptions: {
      globals: Object.fromEntries(
        [
          ...['document', 'location', 'fetch', 'addEventListener', 'setTimeout', 'clearTimeout'],
          ...['DOMParser', 'EventSource', 'Node', 'URL', 'URLSearchParams'],
        ].map((name) => [name, 'readonly']),
      ),
    },
  },
  {
    files: ['**/*.cjs'],
    languageOptions: { sourceType: 'commonjs', globals: { module: 'writable' } },
  },
  prettier,
)
