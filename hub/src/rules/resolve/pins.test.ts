/** What happens to a pin when its repository has another answer at the next poll, read from a real server. */
import assert from "node:assert/strict";
import { accessTo, type Pin } from "@flotilla/shared/source";
import {
  createTestClient,
  type IndexLine,
  indexText,
  type Respond,
  registryOf,
  send,
  startTestServer,
  testChart,
} from "@flotilla/shared/source/testing";
import { describe, test } from "vitest";
import { choosePin, type PinChoice } from "./choose-pin.ts";

const one = "1".repeat(64);
const other = "2".repeat(64);

/** Polls the responses in `answers` in order; returns the first and the last pin. */
async function polled(
  kind: "http" | "oci",
  answers: readonly Respond[],
): Promise<{ readonly first: Pin; readonly last: PinChoice }> {
  let poll = 0;
  await using server = await startTestServer((request, response) =>
    answers[poll]?.(request, response),
  );
  await using client = createTestClient();
  const source =
    kind === "http"
      ? ({ kind, repository: server.origin, chart: "web" } as const)
      : ({ kind, repository: `oci://${server.host}/charts/web` } as const);
  const access = accessTo(source, { plainHttp: true });
  const { pin: first } = await client.resolve(source, "1.x", access);
  let last: PinChoice = { pin: first };
  for (poll = 1; poll < answers.length; poll++) {
    const { pin: fresh } = await client.resolve(source, "1.x", access);
    last = choosePin(last.pin, fresh);
  }
  return { first, last };
}

function index(...lines: readonly (string | IndexLine)[]): Respond {
  return (_, response) => send(response, 200, indexText({ web: lines }));
}

function versionOf(pin: Pin): string {
  return pin.kind === "tarball" ? "" : pin.version;
}

describe("a re-packaged version (the same version, another digest)", () => {
  test("of an HTTP repository is reported, and what is deployed keeps its pin", async () => {
    const { first, last } = await polled("http", [
      index({ version: "1.2.3", digest: one }),
      index({ version: "1.2.3", digest: other }),
    ]);

    assert.equal(last.pin, first);
    assert.equal(
      last.note,
      `version 1.2.3 was published again with other bytes (sha256:${other} instead of sha256:${one}); what is deployed keeps the earlier ones`,
    );
  });

  test("of a registry, whose tag moved, is reported, and what is deployed keeps its pin", async () => {
    const { first, last } = await polled("oci", [
      registryOf({ "1.2.3": testChart("restored") }),
      registryOf({ "1.2.3": testChart("packed again") }),
    ]);

    assert.equal(last.pin, first);
    assert.match(last.note ?? "", /^version 1\.2\.3 was published again with other bytes/);
  });

  test("is no longer reported when there is a newer version", async () => {
    const { last } = await polled("http", [
      index({ version: "1.2.3", digest: one }),
      index({ version: "1.2.3", digest: other }),
      index({ version: "1.2.4", digest: one }, { version: "1.2.3", digest: other }),
    ]);

    assert.deepEqual([versionOf(last.pin), last.note], ["1.2.4", undefined]);
  });
});

describe("a withdrawn version", () => {
  for (const [kind, before, after] of [
    [
      "http",
      index({ version: "1.3.0", digest: one }, { version: "1.2.0", digest: other }),
      index({ version: "1.2.0", digest: other }),
    ],
    [
      "oci",
      registryOf({ "1.3.0": testChart("new"), "1.2.0": testChart("old") }),
      registryOf({ "1.2.0": testChart("old") }),
    ],
  ] as const) {
    test(`(${kind}) stays deployed, and the older best match is reported and not followed`, async () => {
      const { first, last } = await polled(kind, [before, after]);

      assert.equal(versionOf(first), "1.3.0");
      assert.equal(last.pin, first);
      assert.match(
        last.note ?? "",
        /^the best match is now .*1\.2\.0.*, which is older than 1\.3\.0; 1\.3\.0 stays deployed$/,
      );
    });
  }
});

describe("a half-published index", () => {
  const older = { version: "1.2.0", digest: other };
  const newer = { version: "1.3.0", digest: one };

  test("that lacks the newest version for a while is not followed to an older one", async () => {
    const { last } = await polled("http", [
      index(newer, older),
      index(older),
      index({ version: "1.4.0", digest: one }, newer, older),
    ]);

    assert.deepEqual([versionOf(last.pin), last.note], ["1.4.0", undefined]);
  });

  test("that was truncated between two entries is not followed to an older one", async () => {
    const whole = indexText({ web: [older, newer] });
    const half = whole.slice(0, whole.lastIndexOf("  - apiVersion"));
    const { first, last } = await polled("http", [
      (_, response) => send(response, 200, whole),
      (_, response) => send(response, 200, half),
    ]);

    assert.equal(versionOf(first), "1.3.0");
    assert.equal(last.pin, first);
    assert.match(last.note ?? "", /^the best match is now 1\.2\.0 at .*; 1\.3\.0 stays deployed$/);
  });
});

describe("an index without digests", () => {
  test("gives a pin without one, which is kept while the version stays", async () => {
    const { first, last } = await polled("http", [index("1.2.3"), index("1.2.3")]);

    assert.equal(first.kind === "http" && first.digest, undefined);
    assert.deepEqual(last, { pin: first });
  });

  test("that gets digests is followed to them, and one that loses them is not", async () => {
    const gained = await polled("http", [index("1.2.3"), index({ version: "1.2.3", digest: one })]);
    const withoutDigest = await polled("http", [
      index({ version: "1.2.3", digest: one }),
      index("1.2.3"),
    ]);

    assert.equal(gained.last.pin.kind === "http" && gained.last.pin.digest, `sha256:${one}`);
    assert.equal(withoutDigest.last.pin, withoutDigest.first);
  });
});
