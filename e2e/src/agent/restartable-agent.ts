/** An agent in this process that a test stops, and starts again with the same data. */
import { afterAll } from "vitest";
import {
  type InProcessInstaller,
  type InstallerSpec,
  startInstaller,
} from "../harness/in-process-installer.ts";

/** Its reports and runs of Helm are those since its last start. */
export interface RestartableAgent extends InProcessInstaller {
  /** `changed`: until the next start. */
  start(changed?: Partial<InstallerSpec>): Promise<void>;
  restart(changed?: Partial<InstallerSpec>): Promise<void>;
}

/** Lasts for the file. */
export async function startRestartableAgent(spec: InstallerSpec): Promise<RestartableAgent> {
  let current = await startInstaller(spec);
  afterAll(() => current.stop());

  async function start(changed: Partial<InstallerSpec> = {}): Promise<void> {
    current = await startInstaller({ ...spec, ...changed });
  }

  return {
    start,
    async restart(changed) {
      await current.stop();
      await start(changed);
    },
    get intake() {
      return current.intake;
    },
    answer: (...args) => current.answer(...args),
    get reports() {
      return current.reports;
    },
    get helmRuns() {
      return current.helmRuns;
    },
    report: (isDesired) => current.report(isDesired),
    helmStarted: (release) => current.helmStarted(release),
    withdrawn: (name) => current.withdrawn(name),
    stop: () => current.stop(),
  };
}
