/** A container's main process as the tests treat a server: a pid, a kill, a start on the same data. */

import {
  getContainerRuntimeClient,
  type GenericContainer,
  type StartedTestContainer,
} from 'testcontainers'
import type { TestServerProcess } from './servers.js'
import { waitFor } from './wait-for.js'

/** Kafka is up in about ten seconds; on two busy cores it takes far longer. */
const startTimeoutMs = 120_000

export interface ContainerProcess extends TestServerProcess {
  restart(): Promise<void>
  /** Removes the container and its volumes. */
  stop(): Promise<void>
}

/**
 * Publishes the server's port on the same one of this machine at every start, as its clients need it.
 *
 * @param answers throws, or gives false, while the server does not serve
 */
export async function startContainer(
  container: GenericContainer,
  ports: { readonly container: number; readonly host: number },
  answers: () => Promise<boolean>,
): Promise<ContainerProcess> {
  const started: StartedTestContainer = await container.withExposedPorts(ports).start()
  const { container: containers } = await getContainerRuntimeClient()
  const handle = containers.getById(started.getId())
  let pid = 0
  const serving = async (): Promise<void> => {
    pid = (await handle.inspect()).State.Pid
    const what = `the server in container ${started.getName()} to answer`
    await waitFor(what, answers, { timeoutMs: startTimeoutMs })
  }
  const isRunning = async (): Promise<boolean> => (await handle.inspect()).State.Running
  await serving()
  const start = async (): Promise<void> => {
    if (await isRunning()) return
    await handle.start()
    await serving()
  }
  return {
    get pid() {
      return pid
    },
    start,
    kill: async () => {
      if (await isRunning()) await handle.kill()
    },
    restart: async () => {
      await handle.stop()
      await start()
    },
    stop: async () => {
      // Their data is thrown away, so there is nothing to be gained by a controlled shutdown.
      await started.stop({ timeout: 0, removeVolumes: true })
    },
  }
}
