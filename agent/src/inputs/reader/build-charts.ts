/** Charts that readers make. */
import { createHash } from "node:crypto";
import { mkdir, mkdtemp, rm } from "node:fs/promises";
import { join } from "node:path";
import { canonicalJson } from "@flotilla/shared/json";
import { describePin } from "@flotilla/shared/source";
import {
  type BuildCharts,
  definitionsReply,
  inspectReply,
  type WithDefinitions,
} from "../../helm/index.ts";
import type { Readers } from "./readers.ts";

export function createBuildCharts(readers: Pick<Readers, "run">): BuildCharts {
  return async function buildChart(task, pin) {
    const digest = createHash("sha256").update(canonicalJson(pin)).digest("hex");
    const value = await readers.run(
      { kind: "build", task },
      { key: `build sha256:${digest}`, what: `build the chart ${describePin(pin)}` },
    );
    return task.step === "inspect" ? inspectReply.parse(value).dependencies : [];
  };
}

/** `dir`: where the charts are while they are read. */
export function createWithDefinitions(readers: Pick<Readers, "run">, dir: string): WithDefinitions {
  return async function withDefinitions({ path: file, digest }, work) {
    await mkdir(dir, { recursive: true, mode: 0o700 });
    const folder = await mkdtemp(join(dir, "chart-"));
    const target = join(folder, "chart.tgz");
    try {
      const value = await readers.run(
        { kind: "build", task: { step: "definitions", file, target } },
        { key: `definitions ${digest}`, what: `read the definitions of chart ${digest}` },
      );
      return definitionsReply.parse(value).hasDefinitions ? await work(target) : undefined;
    } finally {
      await rm(folder, { recursive: true, force: true });
    }
  };
}
