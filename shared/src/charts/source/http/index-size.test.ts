/** An index of 200 MB is rejected, and never completely in memory, in any encoding. */
import assert from "node:assert/strict";
import type { ServerResponse } from "node:http";
import { Readable } from "node:stream";
import { pipeline } from "node:stream/promises";
import { setFlagsFromString } from "node:v8";
import { runInNewContext } from "node:vm";
import { createGzip } from "node:zlib";
import { describe, it } from "vitest";
import { accessTo } from "../index.ts";
import { createTestClient, startTestServer } from "../testing/index.ts";

const blocks = 200;
const blockBytes = 1024 * 1024;

setFlagsFromString("--expose-gc");
const collectGarbage = runInNewContext("gc") as () => void;

/** The memory of the whole process, with its workers. When garbage is collected by itself depends on what else the machine does. */
function residentMb(): number {
  collectGarbage();
  return process.memoryUsage.rss() / 1e6;
}

/** Many charts, one block each. */
function block(at: number): Buffer {
  const head = `${at === 0 ? "apiVersion: v1\nentries:\n" : ""}  chart-${at}:\n  - name: chart-${at}\n`;
  const line = "    description: what it does and what it does not do, in many words\n";
  return Buffer.from(head + line.repeat(blockBytes / line.length));
}

interface Sending {
  readonly headers: Readonly<Record<string, string>>;
  readonly pack?: true;
  /** How much of it may leave the server, in blocks. */
  readonly sentAtMost: number;
  /** How much the process may grow, with the server. */
  readonly grownAtMostMb: number;
}

const ways: readonly (readonly [name: string, sending: Sending])[] = [
  [
    "announced",
    {
      headers: { "content-length": String(blocks * blockBytes) },
      sentAtMost: 10,
      grownAtMostMb: 60,
    },
  ],
  ["unannounced", { headers: {}, sentAtMost: 140, grownAtMostMb: 190 }],
  [
    "packed into less than a MB",
    { headers: { "content-encoding": "gzip" }, pack: true, sentAtMost: blocks, grownAtMostMb: 100 },
  ],
];

describe("an index of 200 MB", () => {
  for (const [name, { headers, pack, sentAtMost, grownAtMostMb }] of ways) {
    it(`that arrives ${name} is rejected without being completely in memory`, async () => {
      let sent = 0;
      const before = residentMb();
      let most = before;
      async function send(response: ServerResponse): Promise<void> {
        response.writeHead(200, headers);
        const text = Readable.from(
          (function* () {
            for (; sent < blocks; sent++) {
              if (sent % 10 === 0) most = Math.max(most, residentMb());
              yield block(sent);
            }
          })(),
        );
        // The client closes the connection.
        const end =
          pack === true ? pipeline(text, createGzip(), response) : pipeline(text, response);
        await end.catch(() => undefined);
      }
      await using server = await startTestServer((_, response) => send(response));
      await using client = createTestClient();
      const source = { kind: "http", repository: server.origin, chart: "chart-1" } as const;

      await assert.rejects(client.resolve(source, "", accessTo(source)), {
        code: "INDEX_TOO_LARGE",
        message: `GET ${server.origin}/index.yaml: the response is larger than 128 MiB`,
      });

      const grownMb = most - before;
      assert.ok(sent <= sentAtMost, `${sent} blocks have left the server`);
      assert.ok(grownMb < grownAtMostMb, `the process has grown by ${grownMb} MB`);
    });
  }
});
