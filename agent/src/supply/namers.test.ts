import assert from "node:assert/strict";
import { suite, test } from "node:test";
import { pack } from "@flotilla/shared/content/packed.ts";
import { silentLog } from "@flotilla/shared/log/log.ts";
import { supplyKey } from "@flotilla/shared/supply/supply.ts";
import type { HeldAssignment } from "../assignment/assignment-secret.ts";
import { lostMessage } from "./lost.ts";
import { createNamers } from "./namers.ts";
import { createUnwanted } from "./unwanted.ts";

const source = { kind: "Secret", name: "source" } as const;
const settings = { kind: "ConfigMap", name: "settings" } as const;

async function held(
  name: string,
  access: { readonly secret?: string } = {},
  copies: readonly object[] = [],
): Promise<HeldAssignment> {
  const content = {
    format: 1,
    pin: { kind: "tarball", url: "https://files.example.com/web.tgz" },
    releaseName: name,
    namespace: name,
    createNamespace: true,
    valuesAreTemplates: true,
    helm: {
      timeoutSeconds: 0,
      atomic: false,
      force: false,
      takeOwnership: false,
      waitForJobs: false,
      disableDNS: false,
      skipSchemaValidation: false,
      maxHistory: 2,
    },
    access,
    copies,
    keepResources: false,
  };
  const { digest, bytes } = await pack(content, () => undefined);
  const owner = { name, uid: "u" };
  return { owner, deploymentId: digest, content: bytes, paused: false, withdrawing: false };
}

suite("who names a supply", () => {
  test("are the deployments with it as credentials or to be copied, and no others", async () => {
    const damaged = { ...(await held("damaged")), content: Buffer.from("nonsense") };
    const assignments = [
      await held("a", { secret: "source" }),
      await held("b", {}, [settings]),
      await held("c", { secret: "source" }, [settings]),
      await held("d"),
      damaged,
    ];
    const namers = createNamers({ list: () => assignments });

    assert.deepEqual(await namers.of(source), ["a", "c"]);
    assert.deepEqual(await namers.of(settings), ["b", "c"]);
    assert.deepEqual(await namers.of({ kind: "ConfigMap", name: "source" }), []);
  });
});

suite("a supply that the hub withdrew", () => {
  async function setUp() {
    const assignments = [await held("orphan", { secret: "source" })];
    const dropped: string[] = [];
    const unwanted = createUnwanted({
      supplies: {
        drop: (ref) => {
          dropped.push(supplyKey(ref));
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
});

suite("a supply that the hub lost", () => {
  test("is told of by name, and nothing else is", () => {
    const known = new Map([
      ["Secret/source", {}],
      ["ConfigMap/settings", { digest: "sha256:1" }],
    ]);
    const get = { get: (ref: Parameters<typeof supplyKey>[0]) => known.get(supplyKey(ref)) };

    assert.equal(lostMessage(["ConfigMap/settings", "Secret/unheard"], get), undefined);
    assert.equal(
      lostMessage(["ConfigMap/settings", "Secret/source"], get),
      "the hub does not have the Secret source any more; what was installed with it stays",
    );
  });
});
