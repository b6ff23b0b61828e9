import assert from "node:assert/strict";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { getCACertificates, setDefaultCACertificates } from "node:tls";
import { afterEach, type TestContext, test } from "vitest";
import { lineLog } from "../../../runtime/log/index.ts";
import { createFakeClock } from "../../../runtime/time/testing/index.ts";
import { accessTo } from "../index.ts";
import {
  createTestClient,
  indexText,
  issueTestCertificate,
  send,
  startTestServer,
} from "../testing/index.ts";
import { followExtraAuthorities } from "./extra-authorities.ts";

const before = getCACertificates("default");
afterEach(() => {
  setDefaultCACertificates([...before]);
});

/** A file that is followed. */
async function setUp(t: TestContext, text: string) {
  const dir = await mkdtemp(join(tmpdir(), "authorities-"));
  const file = join(dir, "ca.crt");
  await writeFile(file, text);
  const clock = createFakeClock();
  const ending = new AbortController();
  const lines: string[] = [];
  const log = lineLog({ name: "test", level: "info", write: (line) => lines.push(line) });
  const following = followExtraAuthorities({ file, clock, log }, ending.signal);
  t.onTestFinished(async () => {
    ending.abort();
    await following;
    await rm(dir, { recursive: true });
  });
  await clock.timer();
  return {
    lines,
    /** Resolves when it was read. */
    async set(next: string) {
      await writeFile(file, next);
      await clock.advance(60_000);
      await clock.timer();
    },
  };
}

test("a file with other authorities is trusted from then on, also beside those of a Secret", async (t) => {
  const certificate = await issueTestCertificate();
  const [other = ""] = getCACertificates("bundled");
  await using server = await startTestServer(
    (_, response) => send(response, 200, indexText({ x: ["1.0.0"] })),
    { certificate },
  );
  await using client = createTestClient();
  const source = { kind: "http", repository: server.origin, chart: "x" } as const;
  const secrets = [{}, { caPem: other }];
  const { set, lines } = await setUp(t, other);
  for (const secret of secrets)
    await assert.rejects(client.list(source, accessTo(source, secret)), {
      code: "INDEX_FETCH",
    });

  await set(`# ours\n${other}\n${certificate.caPem}`);

  for (const secret of secrets) {
    const listing = await client.list(source, accessTo(source, secret));
    assert.equal(listing?.versions.length, 1);
  }
  assert.ok(lines.some((line) => line.includes("trusting other certificate authorities")));
});

test("a file that has none, or an invalid one, leaves the last ones in use, and is logged once", async (t) => {
  const { caPem } = await issueTestCertificate();
  const { set, lines } = await setUp(t, caPem);
  const used = getCACertificates("default");
  const { length } = lines;

  await set("");
  await set("");
  assert.equal(lines.length, length + 1);
  await set(`-----BEGIN CERTIFICATE-----\nbm9uZQ==\n-----END CERTIFICATE-----\n`);
  assert.equal(lines.length, length + 2);

  assert.equal(getCACertificates("default"), used);
});

test("an authority that leaves the file is not trusted any more, and those of Node.js stay", async (t) => {
  const [first, second] = await Promise.all([issueTestCertificate(), issueTestCertificate()]);
  const { set } = await setUp(t, first.caPem);
  const withoutLines = (pem: string) => pem.replaceAll(/\s/g, "");
  const trusted = () => new Set(getCACertificates("default").map(withoutLines));
  assert.ok(trusted().has(withoutLines(first.caPem)));

  await set(second.caPem);

  assert.ok(!trusted().has(withoutLines(first.caPem)));
  assert.ok(trusted().has(withoutLines(second.caPem)));
  assert.ok(getCACertificates("bundled").every((pem) => trusted().has(withoutLines(pem))));
});
