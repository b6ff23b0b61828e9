import assert from "node:assert/strict";
import { execFile } from "node:child_process";
import { createServer } from "node:net";
import { promisify } from "node:util";
import { test } from "vitest";
import { freePort, isPortFree } from "./free-port.ts";

/** Among 400 random numbers out of 10,000 about eight are equal. */
const many = 400;

test("a port is reserved only once, also across processes", async () => {
  const own = await Promise.all(Array.from({ length: many / 2 }, () => freePort()));
  const module = JSON.stringify(import.meta.resolve("./free-port.ts"));
  const { stdout } = await promisify(execFile)(process.execPath, [
    "--input-type=module",
    `--eval=import { freePort } from ${module};
    const ports = await Promise.all(Array.from({ length: ${many / 2} }, () => freePort()));
    console.log(JSON.stringify(ports));`,
  ]);
  const others: unknown = JSON.parse(stdout);

  assert.ok(Array.isArray(others));
  assert.equal(new Set([...own, ...others]).size, many);
});

test("a port with a listener is not free", async () => {
  const port = await freePort();
  assert.equal(await isPortFree(port), true);
  const server = createServer();
  await new Promise<void>((resolve) => server.listen({ host: "127.0.0.1", port }, resolve));

  assert.equal(await isPortFree(port), false);
  await new Promise((resolve) => server.close(resolve));
});
