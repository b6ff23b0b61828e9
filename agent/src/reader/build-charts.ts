/** Charts that readers make. */
import { createHash } from "node:crypto";
import { canonicalJson } from "@flotilla/shared/json";
import { describePin } from "@flotilla/shared/source";
import { type BuildCharts, inspectReply } from "../chartbuild/index.ts";
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
