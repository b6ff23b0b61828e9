/** Documents that are written for Flux are applied to a fleet, and become Ready; what is not supported says so. */
import assert from "node:assert/strict";
import { createHash } from "node:crypto";
import { ensureBinaries } from "@flotilla/local/binaries";
import { waitUntil } from "@flotilla/local/process";
import type { HelmReleaseStatus } from "@flotilla/shared/flux";
import { fluxKinds } from "@flotilla/shared/flux/crd";
import {
  configMaps,
  deployments,
  events,
  type KubeObject,
  namespaces,
  type Resource,
} from "@flotilla/shared/kube/objects";
import { afterAll, test } from "vitest";
import { hangMs } from "../harness/hang.ts";
import { programFor } from "../harness/program.ts";
import { installedConfig, releaseRecords } from "../harness/releases.ts";
import {
  currentCondition,
  messageOf,
  type WithConditions,
  waitForObject,
} from "../harness/wait.ts";
import { startReleaseFleet } from "../helmrelease/release-fleet.ts";
import { expectedReleases } from "./expected-releases.ts";
import {
  assertAllAreUsed,
  type FormDocument,
  type FormObject,
  readForms,
  replaceAll,
} from "./form-documents.ts";
import { createFormObjects, formNamespace, receiverToken } from "./form-objects.ts";
import { startFormServers } from "./form-servers.ts";
import { refusedForms, refusedProviders } from "./refused-forms.ts";

/** Any object of Flux's kinds. */
interface FluxObject extends KubeObject, WithConditions {
  readonly metadata: KubeObject["metadata"];
  readonly status?: HelmReleaseStatus & {
    readonly artifact?: { readonly revision: string };
    readonly webhookPath?: string;
  };
}

const documents = await readForms("documents");
const refused = await readForms("refused");
const releases = await startReleaseFleet({
  clusters: [{ stage: "trial" }],
  names: ["east"],
  workspaces: [formNamespace],
  hubFlags: () => ["--local-without-account", "--cross-namespace-references"],
});
const { fleet, hub, local } = releases;
const [east] = fleet.clusters;
assert.ok(east !== undefined);
const servers = await startFormServers({ onTestFinished: afterAll }, fleet.helm);
const kubectl = programFor((await ensureBinaries(["kubectl"])).kubectl, fleet.hubPlane.kubeconfig);
await createFormObjects(hub, servers);
// With createNamespace unset, a release goes to a namespace that exists.
await east.client.create(namespaces, { metadata: { name: formNamespace } });

function resourceOf(kind: string): Resource<FluxObject> {
  const found = fluxKinds.find(({ resource }) => resource.kind === kind);
  assert.ok(found !== undefined, kind);
  return found.resource;
}

function whenReady({ kind, metadata }: FormObject): Promise<FluxObject> {
  return waitForObject(
    hub,
    resourceOf(kind),
    metadata,
    "Ready",
    (object) => currentCondition(object, "Ready")?.status === "True",
  );
}

async function apply(forms: readonly FormDocument[]): Promise<void> {
  const text = forms.map((form) => replaceAll(form.text, servers.replacements)).join("\n---\n");
  const { code, stderr } = await kubectl(["apply", "--server-side", "-f", "-"], text);
  assert.equal(stderr, "");
  assert.equal(code, 0);
}

test("the documents are applied with real addresses in place of their examples, and nothing else is changed", async () => {
  assertAllAreUsed(documents, servers.replacements);

  await apply(documents);
});

const isRegistry = ({ kind, spec }: FormObject) =>
  kind === "HelmRepository" && spec?.type === "oci";
const sourceKinds = ["HelmRepository", "OCIRepository", "GitRepository", "Bucket", "HelmChart"];

for (const { file, objects } of documents) {
  for (const object of objects) {
    const { kind, metadata, spec } = object;
    const { name, namespace = "" } = metadata;
    const title = `${kind} ${name} of ${file}`;
    if (spec?.suspend === true || isRegistry(object)) {
      if (!sourceKinds.includes(kind) && kind !== "HelmRelease") continue;
      test(`${title}, which ${spec?.suspend === true ? "is suspended" : "is a registry"}, is left without a Ready condition, as in Flux`, async () => {
        const found = await hub.reader.get(resourceOf(kind), metadata);

        assert.ok(found !== undefined);
        assert.equal(currentCondition(found, "Ready"), undefined);
      });
    } else if (sourceKinds.includes(kind)) {
      test(`${title} becomes Ready with an artifact`, async () => {
        const { status } = await whenReady(object);

        assert.notEqual(status?.artifact, undefined);
      });
    } else if (kind === "Receiver") {
      test(`${title} becomes Ready with Flux's path of its webhook`, async () => {
        const { status } = await whenReady(object);

        const text = `${receiverToken}${name}${namespace}`;
        const path = `/hook/${createHash("sha256").update(text).digest("hex")}`;
        assert.equal(status?.webhookPath, path);
      });
    } else if (kind === "HelmRelease" && name !== "passengers") {
      test(`${title} becomes Ready, and its release has the values of the document`, () =>
        assertInstalled(object));
    }
  }
}

async function assertInstalled(object: FormObject): Promise<void> {
  const { name, namespace = "" } = object.metadata;
  const expected = expectedReleases[name];
  assert.ok(expected !== undefined, `expected-releases.ts has no ${name}`);
  const [inNamespace = "", release = ""] = (expected.release ?? `${namespace}/${name}`).split("/");
  const { status } = await whenReady(object);
  const cluster = expected.cluster === "east" ? east : local;
  assert.deepEqual(
    status?.clusters?.map((each) => each.name),
    [expected.cluster ?? "local"],
  );
  const config = await installedConfig(cluster?.client ?? hub, release, inNamespace);
  assert.match(config?.data?.["version"] ?? "", expected.version);
  assert.deepEqual(JSON.parse(config?.data?.["values"] ?? "null"), expected.values);
}

const form = (name: string) => ({ namespace: formNamespace, name });
const helmRelease = (name: string): FormObject => ({
  apiVersion: "helm.toolkit.fluxcd.io/v2",
  kind: "HelmRelease",
  metadata: form(name),
});

test("passengers is in progress until its expression calls the Berth ready", async () => {
  const berths: Resource<KubeObject> = {
    ...{ group: "harbour.example.org", version: "v1", kind: "Berth", plural: "berths" },
    namespaced: true,
  };
  await waitForObject(hub, berths, form("first"), "installed", () => true);
  await waitForObject(
    hub,
    resourceOf("HelmRelease"),
    form("passengers"),
    "waiting for its Berth",
    (release) => currentCondition(release, "Ready")?.status !== "True",
  );

  await hub.patch(berths, form("first"), {
    type: "merge",
    body: { status: { phase: "Moored" } },
  });

  await assertInstalled(helmRelease("passengers"));
});

test("the GitRepositories have the revisions of Flux for a branch, a tag, a commit, a reference and a range", async () => {
  const { git } = servers;
  const revisionOf = async (name: string) =>
    (await hub.reader.get(resourceOf("GitRepository"), form(name)))?.status?.artifact?.revision;

  assert.equal(await revisionOf("harbour-apps"), `main@sha1:${git.lastCommit}`);
  assert.equal(await revisionOf("harbour-apps-tag"), `crane-1.4.0@sha1:${git.firstCommit}`);
  assert.equal(await revisionOf("harbour-apps-commit"), `main@sha1:${git.firstCommit}`);
  assert.equal(
    await revisionOf("harbour-apps-change"),
    `refs/changes/7/head@sha1:${git.changeCommit}`,
  );
  assert.equal(await revisionOf("harbour-releases"), `1.10.0@sha1:${git.releaseCommit}`);
});

test("lighthouse's definitions are installed, and the tests of its filters have run", async () => {
  const { status } = await whenReady(helmRelease("lighthouse"));

  const [newest] = status?.history ?? [];
  assert.equal(newest?.namespace, "harbour");
  assert.deepEqual(
    Object.entries(newest.testHooks ?? {}).map(([name, { phase }]) => [name, phase]),
    [["lighthouse-smoke", "Succeeded"]],
  );
  const { stdout } = await kubectl(["get", "crd", "lamps.harbour.example.org", "--output=name"]);
  assert.match(stdout, /lamps/);
});

test("gangway's objects are those of its post-renderers and common metadata, and drift that it does not ignore is corrected", async () => {
  await whenReady(helmRelease("gangway"));
  const ref = form("gangway");
  const deployment = await hub.reader.get(deployments, ref);
  assert.ok(deployment !== undefined);
  const { template } = deployment.spec ?? {};

  assert.equal(template?.metadata?.labels?.["zone"], "east");
  assert.deepEqual(
    [...(template.spec?.initContainers ?? []), ...(template.spec?.containers ?? [])].map(
      ({ image }) => image,
    ),
    [
      "registry.example.org/init@sha256:fcde2b2edba56bf408601fb721fe9b5c338d10ee429ea04fae5511b68fbf8fb9",
      "mirror.example.org/gangway:1.2.3",
    ],
  );
  assert.equal(deployment.metadata.labels?.["owner"], "harbour");
  assert.equal(deployment.metadata.annotations?.["contact"], "harbour@example.org");

  await hub.patch(deployments, ref, { type: "merge", body: { spec: { replicas: 2 } } });
  const config = { ...ref, name: "gangway-config" };
  await hub.patch(configMaps, config, { type: "merge", body: { data: { values: "changed" } } });
  await waitForObject(
    hub,
    configMaps,
    config,
    "corrected",
    ({ data }) => data?.["values"] !== "changed",
  );
  assert.equal((await hub.reader.get(deployments, ref))?.spec?.replicas, 2);
});

test("tug-west, which is suspended, has no release", async () => {
  assert.deepEqual(await releaseRecords(local.client, formNamespace, "tug-west"), []);
});

for (const [provider, path, header, value] of [
  ["chat", "/chat", "authorization", "Bearer of-the-chat"],
  ["generic", "/generic", "x-harbour", "east"],
  ["teams", "/teams/workflows/harbour", "content-type", "application/json"],
  ["discord", "/discord/api/webhooks/1/harbour/slack", "content-type", "application/json"],
  [
    "alertmanager",
    "/alertmanager/api/v2/alerts",
    "authorization",
    `Basic ${Buffer.from("watch:of-the-alertmanager").toString("base64")}`,
  ],
  ["grafana", "/grafana/api/annotations", "authorization", "Bearer of-the-grafana"],
] as const) {
  test(`the Provider ${provider} gets the events of its Alert`, async () => {
    const { text, headers } = await servers.sink.wait(path, "an event", () => true);

    assert.equal(headers[header], value);
    assert.match(text, /flux-forms/);
  });
}

test("the Provider webhook gets signed events with the metadata of its Alert, over TLS with its own authority", async () => {
  const { event, headers } = await servers.tlsSink.wait(
    "/flux",
    "an event of the mesh",
    ({ involvedObject }) => involvedObject.name === "mesh",
  );

  assert.match(String(headers["x-signature"]), /^sha256=[0-9a-f]{64}$/);
  assert.equal(event.metadata?.["cluster"], "harbour-east");
  assert.equal(event.metadata["summary"], "a release of the harbour");
});

test("the proxy of the documents was used by the source over SSH, the registry and the chat", () => {
  const { git, registry, sink, proxy } = servers;

  for (const host of [`127.0.0.1:${git.ssh.port}`, registry.registry.host, new URL(sink.url).host])
    assert.ok(
      proxy.passed.some((each) => each.includes(host)),
      `${host} is in none of ${proxy.passed.join(", ")}`,
    );
});

test("the forms that are refused are accepted by the API server", () => apply(refused));

for (const { kind, name, reason, message } of refusedForms) {
  test(`${kind} ${name} is refused: Ready is False with ${reason}, and says what to write instead`, async () => {
    const object = await waitForObject(
      hub,
      resourceOf(kind),
      form(name),
      `refused with ${message}`,
      (each) => message.test(messageOf(each, "Ready")),
    );

    const ready = currentCondition(object, "Ready") ?? { status: undefined, reason: undefined };
    assert.deepEqual([ready.status, ready.reason], ["False", reason]);
  });
}

test("the Providers that are refused have a Warning that says why, and no other Provider or Alert has one", async () => {
  const warnings = async () =>
    (await hub.reader.list(events, { namespace: formNamespace })).flatMap(
      ({ type, regarding, note = "" }) =>
        type === "Warning" && ["Alert", "Provider"].includes(regarding?.kind ?? "")
          ? [{ name: regarding?.name ?? "", note }]
          : [],
    );
  await waitUntil(
    async () => {
      const all = await warnings();
      return Object.entries(refusedProviders).every(([name, message]) =>
        all.some((each) => each.name === name && message.test(each.note)),
      );
    },
    { what: "the Warnings of the refused Providers", timeoutMs: hangMs },
  );

  const others = (await warnings()).filter(({ name }) => !Object.hasOwn(refusedProviders, name));
  assert.deepEqual(others, []);
});
