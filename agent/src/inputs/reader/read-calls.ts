/** The calls in the templates of charts and in values, read by readers. */
import { createHash } from "node:crypto";
import { canonicalJson } from "@flotilla/shared/json";
import { callsSchema, chartCallsSchema, hasSuspects, type ReadCalls } from "../../helm/index.ts";
import type { Readers } from "./readers.ts";

export function createReadCalls(readers: Readers): ReadCalls {
  return {
    async inChart({ path, digest }) {
      const value = await readers.run(
        { kind: "chart", path, digest },
        { key: `chart ${digest}`, what: `read the chart ${digest}` },
      );
      return chartCallsSchema.parse(value);
    },
    async inValues(values) {
      const json = canonicalJson(values);
      if (!hasSuspects(json)) return {};
      const digest = createHash("sha256").update(json).digest("hex");
      const value = await readers.run(
        { kind: "values", json },
        { key: `values sha256:${digest}`, what: "read the templates in the values" },
      );
      return callsSchema.parse(value);
    },
  };
}
