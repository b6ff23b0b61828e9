import assert from "node:assert/strict";
import { createMemoryApiServer } from "@flotilla/shared/kube/testing";
import { silentLog } from "@flotilla/shared/log";
import { createFakeClock } from "@flotilla/shared/time/testing";
import { describe, test } from "vitest";
import { createVersionReader } from "./kubernetes-version.ts";

const unused = new AbortController().signal;

describe("the version of Kubernetes", () => {
  for (const [what, body, expected] of [
    [
      "is the one that the API server says",
      '{"major":"1","gitVersion":"v1.36.3+k3s1"}',
      "v1.36.3+k3s1",
    ],
    ["is not known where the API server does not say it", undefined, undefined],
    ["is not known where the answer has none", '{"major":"1"}', undefined],
    ["is not known where the answer is not JSON", "ok", undefined],
    ["is not known where it is empty", '{"gitVersion":""}', undefined],
  ] as const)
    test(what, async () => {
      const rest = createMemoryApiServer();
      if (body !== undefined) rest.rawResponses.set("/version", body);
      const deps = { clock: createFakeClock(), log: silentLog() };

      assert.equal(await createVersionReader(rest, deps)(unused), expected);
    });
});

test("it stays known while the API server does not answer", async () => {
  const rest = createMemoryApiServer();
  const read = createVersionReader(rest, { clock: createFakeClock(), log: silentLog() });
  rest.rawResponses.set("/version", '{"gitVersion":"v1.35.1"}');
  await read(unused);
  rest.rawResponses.clear();

  assert.equal(await read(unused), "v1.35.1");
});

test("a connection waits two seconds for it at most", async () => {
  const clock = createFakeClock();
  const read = createVersionReader(
    {
      raw: (_, { signal } = {}) =>
        new Promise((_resolve, reject) => {
          signal?.addEventListener("abort", () => reject(new Error("aborted")));
        }),
    },
    { clock, log: silentLog() },
  );

  const reading = read(unused);
  await clock.advance(2_000);

  assert.equal(await reading, undefined);
});
