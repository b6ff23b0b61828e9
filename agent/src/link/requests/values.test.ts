import assert from "node:assert/strict";
import { gzipSync } from "node:zlib";
import type { ValuesOptions } from "@flotilla/proto";
import type { DeploymentContent } from "@flotilla/shared/content";
import { secrets } from "@flotilla/shared/kube/objects";
import { createMemoryApiServer } from "@flotilla/shared/kube/testing";
import { describe, test } from "vitest";
import { recordSecretName } from "../../helm/cli/release-record.ts";
import { contentDigest } from "../../helm/record/stored-release.ts";
import { readRecordsHere } from "../../helm/record/testing/index.ts";
import type { ReadLayers } from "../../inputs/values/release-inputs.ts";
import { writeValues } from "./values.ts";

const none: ValuesOptions = { target: "", targetPaths: [] };
const password = "correct-horse";

interface Given {
  readonly layers: ReadLayers["layers"];
  readonly chart?: object;
  readonly options?: ValuesOptions;
}

/** The lines of the answer. */
async function valuesOf({ layers, chart, options = none }: Given): Promise<readonly string[]> {
  const rest = createMemoryApiServer();
  const release = { ...{ namespace: "shop", name: "web" }, rest, subject: "the agent" };
  if (chart !== undefined) {
    const json = JSON.stringify({
      ...{ name: "web", namespace: "shop", version: 1, info: { status: "deployed" } },
      chart: { values: chart },
    });
    const stored = btoa(gzipSync(json).toString("base64"));
    const name = recordSecretName({ name: "web", revision: 1 });
    rest.put(secrets, { metadata: { namespace: "shop", name }, data: { release: stored } });
  }
  const lines: string[] = [];
  await writeValues(
    {
      inputs: {
        layers: () =>
          Promise.resolve({ layers, redact: (text) => text.replaceAll(password, "***") }),
      },
      records: readRecordsHere,
      inventory: { revisionOf: () => ({ content: contentDigest("", []) }) as never },
      releases: { history: () => (chart === undefined ? [] : [{ revision: 1 } as never]) },
    },
    {
      content: {} as DeploymentContent,
      client: { rest, subject: "the agent" } as never,
      release: chart === undefined ? undefined : release,
      options,
    },
    {
      write: (line) => Promise.resolve(void lines.push(line.trimEnd())),
      signal: new AbortController().signal,
    },
  );
  return lines;
}

const spec = { kind: "spec" } as const;
const secret = { kind: "Secret", namespace: "shop", name: "db", key: "values.yaml" } as const;

describe("the values of a release", () => {
  const rows: readonly (readonly [string, Given, readonly string[]])[] = [
    [
      "are those of the chart, with what overrides them",
      {
        chart: { replicas: 1, image: { tag: "1" } },
        layers: [{ origin: spec, values: { replicas: 3 } }],
      },
      [
        '{"origin":{"kind":"chart"},"path":"image.tag","value":"1"}',
        '{"origin":{"kind":"spec"},"path":"replicas","value":3}',
      ],
    ],
    [
      "are known before anything is installed",
      { layers: [{ origin: spec, values: { replicas: 3 } }] },
      ['{"origin":{"kind":"spec"},"path":"replicas","value":3}'],
    ],
    [
      "are masked where they come from a Secret",
      { layers: [{ origin: secret, values: { db: { password: "x" } } }] },
      [
        '{"masked":true,"origin":{"key":"values.yaml","kind":"Secret","name":"db","namespace":"shop"},"path":"db.password"}',
      ],
    ],
    [
      "have no value of a Secret from anywhere else",
      { layers: [{ origin: spec, values: { url: `https://u:${password}@db` } }] },
      ['{"origin":{"kind":"spec"},"path":"url","value":"https://u:***@db"}'],
    ],
    [
      "name the target that sets them",
      {
        layers: [{ origin: spec, values: { a: { b: 1, c: 2 }, ab: 3 } }],
        options: { target: "target europe", targetPaths: ["a.b"] },
      },
      [
        '{"origin":{"kind":"target","name":"target europe"},"path":"a.b","value":1}',
        '{"origin":{"kind":"spec"},"path":"a.c","value":2}',
        '{"origin":{"kind":"spec"},"path":"ab","value":3}',
      ],
    ],
    [
      "name what overrides the target",
      {
        layers: [
          { origin: spec, values: { a: 1 } },
          { origin: { ...secret, kind: "ConfigMap" }, values: { a: 2 } },
        ],
        options: { target: "target europe", targetPaths: ["a"] },
      },
      [
        '{"origin":{"key":"values.yaml","kind":"ConfigMap","name":"db","namespace":"shop"},"path":"a","value":2}',
      ],
    ],
  ];
  for (const [name, given, expected] of rows)
    test(name, async () => {
      assert.deepEqual(await valuesOf(given), expected);
    });
});
