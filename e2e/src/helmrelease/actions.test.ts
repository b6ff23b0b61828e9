/** What Flux's options of actions, and its defaults, change in a cluster: with HelmReleases. All tests share a fleet. */
import assert from "node:assert/strict";
import { helmReleases } from "@flotilla/shared/flux";
import {
  configMaps,
  customResourceDefinitions,
  deployments,
  type KubeObject,
  type Resource,
} from "@flotilla/shared/kube/objects";
import { test } from "vitest";
import { chartArchive } from "../harness/chart-archive.ts";
import { configMapText, definitionText } from "../harness/object-text.ts";
import { installedConfig, releaseRecords } from "../harness/releases.ts";
import { currentCondition, messageOf, waitForObject, waitUntilGone } from "../harness/wait.ts";
import { chartOf } from "./release-fleet.ts";
import { startSampleFleet } from "./sample-fleet.ts";

const events = ["pre-install", "pre-upgrade", "pre-delete"];
const releases = await startSampleFleet(
  await chartArchive({
    name: "hooked",
    version: "1.0.0",
    templates: {
      "config.yaml": configMapText("{{ .Release.Name }}-config", {
        data: "{text: {{ .Values.text | quote }}}",
      }),
      "hooks.yaml": events.map((event) => hook(event)).join("---\n"),
    },
    values: "text: hello\n",
  }),
  await chartArchive({
    name: "same",
    version: "1.0.0",
    templates: {
      "config.yaml": configMapText("same-config", { data: "{owner: {{ .Release.Name }}}" }),
    },
  }),
  await defining("1.0.0"),
  await defining("2.0.0"),
);
const { client, greetingOf, hub, install, readyAt, recordsOf, refOf } = releases;

const replicaSets: Resource<KubeObject> = {
  ...{ group: "apps", version: "v1", kind: "ReplicaSet", plural: "replicasets", namespaced: true },
};

/** It stays. */
function hook(event: string): string {
  return configMapText(`{{ .Release.Name }}-${event}`, { hook: event });
}

/** Its definition has a column for the version of the chart. */
function defining(version: string) {
  return chartArchive({
    name: "defining",
    version,
    templates: { "config.yaml": configMapText("{{ .Release.Name }}-config") },
    crds: {
      "gadgets.yaml": definitionText({
        group: "actions.example.com",
        kind: "Gadget",
        column: `v${version}`,
      }),
    },
  });
}

async function has(name: string): Promise<boolean> {
  return (await client.reader.get(configMaps, refOf(name))) !== undefined;
}

test("timeout and disableWait: by default a release that is not ready in time has failed, and with disableWait it has not", async () => {
  await install("waited", { timeout: "1h", install: { timeout: "1s" }, values: { pod: true } });
  const failed = await releases.waitForCondition(
    refOf("waited"),
    "Released",
    "False",
    "InstallFailed",
    /release apps\/waited was not ready at the end of its timeout: Pod waited/,
  );
  assert.equal(currentCondition(failed, "Ready")?.status, "False");

  await install("unwaited", {
    timeout: "1s",
    install: { disableWait: true },
    values: { pod: true },
  });
  const { status } = await releases.waitForCondition(
    refOf("unwaited"),
    "Released",
    "True",
    "InstallSucceeded",
  );
  assert.deepEqual(await recordsOf("unwaited"), ["1 deployed"]);
  assert.equal(status?.failures ?? 0, 0);
});

test("disableHooks: the hooks of an action that has it do not run", async () => {
  const name = "hooks";
  await install(name, {
    ...chartOf("hooked"),
    install: { disableHooks: true },
    uninstall: { disableHooks: true, deletionPropagation: "background" },
  });
  await readyAt(name, 1);
  await releases.patch(refOf(name), { values: { text: "again" } });
  await readyAt(name, 2);
  await releases.delete(refOf(name));

  const ran = await Promise.all(events.map((event) => has(`${name}-${event}`)));
  assert.deepEqual(ran, [false, true, false]);
});

test("disableTakeOwnership: by default objects of nobody are taken over, and otherwise refused", async () => {
  for (const name of ["taken", "refused"])
    await client.create(configMaps, {
      metadata: refOf(`${name}-config`),
      data: { greeting: "theirs" },
    });

  await install("taken");
  await install("refused", { install: { disableTakeOwnership: true } });

  await readyAt("taken", 1);
  const greetingOf = async (name: string) =>
    (await installedConfig(client, name, "apps"))?.data?.["greeting"];
  assert.equal(await greetingOf("taken"), "hello");
  await releases.waitForCondition(
    refOf("refused"),
    "Ready",
    "False",
    "InstallFailed",
    /ConfigMap "refused-config" .*exists and cannot be imported/,
  );
  assert.equal(await greetingOf("refused"), "theirs");
});

test("one object in two HelmReleases: the second takes it over, and both name the other", async () => {
  const overlap = (other: string) =>
    new RegExp(`; ConfigMap apps/same-config is in the release apps/${other} as well: an upgrade`);
  const hasWarning = (name: string, warning: RegExp) =>
    releases.waitForCondition(refOf(name), "Ready", "True", "InstallSucceeded", warning);
  await install("same-first", chartOf("same"));
  await readyAt("same-first", 1);

  await install("same-second", chartOf("same"));
  await hasWarning("same-second", overlap("same-first"));
  await hasWarning("same-first", overlap("same-second"));
  const config = await client.reader.get(configMaps, refOf("same-config"));
  assert.equal(config?.data?.["owner"], "same-second");
});

test("crds: created by an installation, not changed by an upgrade, replaced with CreateReplace, and never deleted", async () => {
  const definition = { name: "gadgets.actions.example.com" };
  const read = () => client.reader.get(customResourceDefinitions, definition);
  const columns = async () =>
    (await read())?.spec.versions.flatMap(({ additionalPrinterColumns = [] }) =>
      additionalPrinterColumns.map(({ name }) => name),
    );
  await install("no-crds", { ...chartOf("defining", "1.0.0"), install: { crds: "Skip" } });
  await readyAt("no-crds", 1);
  assert.equal(await read(), undefined);

  await install("crds", chartOf("defining", "1.0.0"));
  await readyAt("crds", 1);
  assert.deepEqual(await columns(), ["v1.0.0"]);
  await releases.patch(refOf("crds"), chartOf("defining", "2.0.0"));
  await readyAt("crds", 2);
  assert.deepEqual(await columns(), ["v1.0.0"]);
  await releases.patch(refOf("crds"), { upgrade: { crds: "CreateReplace" }, values: { a: 1 } });
  await readyAt("crds", 3);
  assert.deepEqual(await columns(), ["v2.0.0"]);

  await releases.delete(refOf("crds"));
  assert.deepEqual(await columns(), ["v2.0.0"]);
});

test("replace: the name of a release that was uninstalled with its history kept is used again", async () => {
  const uninstall = { keepHistory: true, deletionPropagation: "background" } as const;
  await install("replaced", { uninstall });
  await readyAt("replaced", 1);
  await releases.delete(refOf("replaced"));
  assert.deepEqual(await recordsOf("replaced"), ["1 uninstalled"]);

  await install("replaced", { install: { replace: true } });

  await readyAt("replaced", 2);
});

test("force: an upgrade replaces objects, without server-side apply, and so removes fields of others", async () => {
  for (const name of ["patched", "forced"]) {
    await install(name, {
      install: { serverSideApply: false },
      upgrade: { serverSideApply: "disabled", force: name === "forced" },
    });
    await readyAt(name, 1);
    await client.patch(configMaps, refOf(`${name}-config`), {
      type: "merge",
      body: { data: { extra: "theirs" } },
    });
    await releases.patch(refOf(name), { values: { greeting: "again" } });
    await readyAt(name, 2);
  }

  const dataOf = async (name: string) => (await installedConfig(client, name, "apps"))?.data;
  assert.equal((await dataOf("patched"))?.["extra"], "theirs");
  assert.deepEqual(await dataOf("forced"), { version: "1.0.0", greeting: "again" });
});

test("serverSideApply: by default an upgrade takes back the fields that others have changed", async () => {
  for (const [name, serverSideApply] of [
    ["auto", "auto"],
    ["enabled", "enabled"],
    ["disabled", "disabled"],
  ] as const) {
    await install(name, { upgrade: { serverSideApply } });
    await readyAt(name, 1);
    await client.patch(
      configMaps,
      refOf(`${name}-config`),
      { type: "merge", body: { data: { greeting: "theirs" } } },
      { fieldManager: "somebody" },
    );

    await releases.patch(refOf(name), { values: { greeting: "ours" } });

    await readyAt(name, 2);
    assert.equal(await greetingOf(name), "ours", name);
  }
});

test("maxHistory: five revisions are kept by default", async () => {
  await install("history");
  for (let revision = 1; revision <= 6; revision++) {
    await readyAt("history", revision);
    await releases.patch(refOf("history"), { values: { greeting: `number ${revision}` } });
  }
  await readyAt("history", 7);

  assert.deepEqual(
    (await releaseRecords(client, "apps", "history")).map(({ revision }) => revision),
    [3, 4, 5, 6, 7],
  );
});

test("uninstall: keepHistory keeps the records, and deletionPropagation orphan what the objects own", async () => {
  const name = "orphaning";
  await install(name, {
    values: { web: name },
    uninstall: { keepHistory: true, deletionPropagation: "orphan" },
  });
  await readyAt(name, 1);
  const owned = () =>
    client.reader.list(replicaSets, { namespace: "apps", labelSelector: `app=${name}` });
  assert.equal((await owned()).length, 1);

  await releases.delete(refOf(name));

  assert.equal(await client.reader.get(deployments, refOf(name)), undefined);
  assert.equal((await owned()).length, 1);
  assert.deepEqual(await recordsOf(name), ["1 uninstalled"]);
});

test("uninstall: its deletion waits until the objects are gone, unless disableWait is set", async () => {
  const finalizers = ["example.com/keep"];
  for (const [name, disableWait] of [
    ["waits", false],
    ["leaves", true],
  ] as const) {
    await install(name, { uninstall: { disableWait, deletionPropagation: "background" } });
    await readyAt(name, 1);
    const body = { metadata: { finalizers } };
    await client.patch(configMaps, refOf(`${name}-config`), { type: "merge", body });
    await hub.delete(helmReleases, refOf(name));
  }

  await waitUntilGone(hub, helmReleases, refOf("leaves"));
  assert.ok(await has("leaves-config"));
  await waitForObject(
    client,
    configMaps,
    refOf("waits-config"),
    "being deleted",
    ({ metadata }) => metadata.deletionTimestamp !== undefined,
  );
  const waiting = await hub.reader.get(helmReleases, refOf("waits"));
  assert.ok(waiting?.metadata.deletionTimestamp);
  assert.ok(messageOf(waiting, "Ready") !== "");

  for (const name of ["waits", "leaves"])
    await client.patch(configMaps, refOf(`${name}-config`), {
      type: "merge",
      body: { metadata: { finalizers: [] } },
    });
  await waitUntilGone(hub, helmReleases, refOf("waits"));
});
