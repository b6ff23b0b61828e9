import assert from "node:assert/strict";
import { test } from "vitest";
import { plainProgress } from "./plain-progress.ts";

test("prints a line for each phase and each quarter of a download", () => {
  let written = "";
  const report = plainProgress({ write: (text) => (written += text) });
  const base = { tool: "helm", elapsedMs: 1234 } as const;

  report({ ...base, phase: "found", detail: "/usr/bin/helm" });
  for (const percent of [0, 10, 24, 25, 26, 99, 100]) {
    report({
      ...base,
      phase: "downloading",
      detail: `https://get.helm.sh/helm.tar.gz ${percent}%`,
    });
  }
  report({ ...base, phase: "waiting", detail: "process 42 is preparing it" });
  report({ ...base, phase: "building", detail: "internet not reachable", expectedMs: 85_000 });
  report({ ...base, phase: "ready", detail: "/cache/helm" });

  assert.deepEqual(written.split("\n"), [
    "helm: downloading https://get.helm.sh/helm.tar.gz 0%",
    "helm: downloading https://get.helm.sh/helm.tar.gz 25%",
    "helm: downloading https://get.helm.sh/helm.tar.gz 99%",
    "helm: downloading https://get.helm.sh/helm.tar.gz 100%",
    "helm: waiting, process 42 is preparing it",
    "helm: building with Go, about 85 s on two cores (internet not reachable)",
    "helm: ready after 1.2 s",
    "",
  ]);
});
