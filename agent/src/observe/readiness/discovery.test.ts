import assert from "node:assert/strict";
import { createMemoryApiServer } from "@flotilla/shared/kube/testing";
import { createFakeClock } from "@flotilla/shared/time/testing";
import { test } from "vitest";
import { createDiscovery } from "./discovery.ts";

const path = "/apis/example.com/v1";

function setUp() {
  const rest = createMemoryApiServer();
  const clock = createFakeClock();
  const paths: string[] = [];
  const raw: typeof rest.raw = (requested, options) => {
    paths.push(requested);
    return rest.raw(requested, options);
  };
  const discovery = createDiscovery({ ...rest, raw }, clock);
  return {
    ...{ clock, paths },
    define: (plural: string, namespaced: boolean) =>
      rest.rawResponses.set(
        path,
        JSON.stringify({ resources: [{ name: plural, kind: "Car", namespaced }] }),
      ),
    remove: () => rest.rawResponses.delete(path),
    async find() {
      const found = await discovery.find("example.com/v1", "Car", new AbortController().signal);
      if (found.kind === "not found") return found.why;
      return `${found.resource.plural} ${found.resource.namespaced ? "namespaced" : "cluster"}`;
    },
  };
}

test("a kind that was found is not asked for again for a minute", async () => {
  const { clock, paths, define, find } = setUp();
  define("cars", true);

  assert.equal(await find(), "cars namespaced");
  await clock.advance(59_999);
  assert.equal(await find(), "cars namespaced");

  assert.deepEqual(paths, [path]);
});

test("a kind that was defined again in another way is found as it is now", async () => {
  const { clock, define, find } = setUp();
  define("cars", true);
  await find();

  define("automobiles", false);
  await clock.advance(60_000);

  assert.equal(await find(), "automobiles cluster");
});

test("a kind that was found stays known while the cluster does not serve it", async () => {
  const { clock, define, remove, find } = setUp();
  define("cars", true);
  await find();

  remove();
  await clock.advance(60_000);

  assert.equal(await find(), "cars namespaced");
});
