import assert from "node:assert/strict";
import { formatObjectRef } from "@flotilla/shared/api/bundle-deployment.ts";
import { silentLog } from "@flotilla/shared/log/log.ts";
import { describe, test } from "vitest";
import { heldAs } from "../testing/held-as.ts";
import { lostMessage } from "./lost.ts";
import { createNamers } from "./namers.ts";
import { createUnwanted } from "./unwanted.ts";

const source = { kind: "Secret", name: "source" } as const;
const settings = { kind: "ConfigMap", name: "settings" } as const;

describe("who names a supply", () => {
  test("are the deployments with it as credentials or to be copied, and no others", async () => {
    const damaged = { ...(await heldAs("damaged")), content: Buffer.from("nonsense") };
    const assignments = [
      await heldAs("a", { access: { secret: "source" } }),
      await heldAs("b", { copies: [settings] }),
      await heldAs("c", { access: { secret: "source" }, copies: [settings] }),
      await heldAs("d"),
      damaged,
    ];
    const namers = createNamers({ list: () => assignments });

    assert.deepEqual(await namers.of(source), ["a", "c"]);
    assert.deepEqual(await namers.of(settings), ["b", "c"]);
    assert.deepEqual(await namers.of({ kind: "ConfigMap", name: "source" }), []);
  });
});

describe("a supply that the hub withdrew", () => {
  async function setUp() {
    const assignments = [await heldAs("orphan", { access: { secret: "source" } })];
    const dropped: string[] = [];
    const unwanted = createUnwanted({
      supplies: {
        drop: (ref) => {
          dropped.push(formatObjectRef(ref));
          return Promise.resolve();
        },
      },
      namers: createNamers({ list: () => assignments }),
      log: silentLog(),
    });
    return { assignments, dropped, unwanted };
  }

  test("goes at once where nothing here names it", async () => {
    const { dropped, unwanted } = await setUp();

    await unwanted.drop(settings);

    assert.deepEqual(dropped, ["ConfigMap/settings"]);
  });

  test("stays for a deployment that the hub does not know, and goes with it", async () => {
    const { assignments, dropped, unwanted } = await setUp();

    await unwanted.drop(source);
    await unwanted.dropFree();
    assert.deepEqual(dropped, []);

    assignments.pop();
    await unwanted.dropFree();
    await unwanted.dropFree();
    assert.deepEqual(dropped, ["Secret/source"]);
  });

  test("stays when it was wanted again meanwhile", async () => {
    const { assignments, dropped, unwanted } = await setUp();
    await unwanted.drop(source);

    unwanted.forget(source);
    assignments.pop();
    await unwanted.dropFree();

    assert.deepEqual(dropped, []);
  });

  test("stays when it was sent anew while it was looked for who names it", async () => {
    const { dropped, unwanted } = await setUp();

    const dropping = unwanted.drop(settings);
    unwanted.forget(settings);
    await dropping;

    assert.deepEqual(dropped, []);
  });
});

describe("a supply that the hub lost", () => {
  test("is told of by name, and nothing else is", () => {
    const known = new Map([
      ["Secret/source", {}],
      ["ConfigMap/settings", { digest: "sha256:1" }],
    ]);
    const get = {
      get: (ref: Parameters<typeof formatObjectRef>[0]) => known.get(formatObjectRef(ref)),
    };

    assert.equal(lostMessage(["ConfigMap/settings", "Secret/unheard"], get), undefined);
    assert.equal(
      lostMessage(["ConfigMap/settings", "Secret/source"], get),
      "the hub does not have the Secret source any more; what was installed with it stays",
    );
  });
});
