/**
 * The process of the pod runner: for all clusters of a local fleet, so that their pods outlive the command that started them.
 * Its argument is the path of a configuration file.
 */
import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { createLog } from "@flotilla/shared/log";
import { openJournal } from "../process/index.ts";
import { readLocalImages } from "./image.ts";
import { startPodRunner } from "./runner.ts";
import { runnerConfig } from "./start-runner.ts";

const [file = ""] = process.argv.slice(2);
const config = runnerConfig.parse(JSON.parse(await readFile(file, "utf8")));
const log = createLog({ name: "pods", level: "info" });
const images = await readLocalImages(config.images);
if (config.isolation.kind === "plain process")
  log.warn({ reason: config.isolation.reason }, "pods run as plain processes");
const runners = await Promise.all(
  config.clusters.map(({ name, kubeconfig }) =>
    startPodRunner({
      cluster: name,
      kubeconfig,
      images,
      isolation: config.isolation,
      dir: join(config.dir, name),
      logDir: join(config.logDir, name),
      journal: openJournal(config.journal),
      log: log.child({ cluster: name }),
    }),
  ),
);
log.info("ready");

process.once("SIGTERM", () => {
  void Promise.all(runners.map((runner) => runner.stop())).then(() => process.exit(0));
});
