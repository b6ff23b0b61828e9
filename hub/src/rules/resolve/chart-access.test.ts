import assert from "node:assert/strict";
import type { ObjectRef } from "@flotilla/proto";
import { formatObjectRef, type HelmOp } from "@flotilla/shared/api";
import { KubeStatusError } from "@flotilla/shared/kube/client";
import { silentLog } from "@flotilla/shared/log";
import type { SourceLocation } from "@flotilla/shared/source";
import { describe, test } from "vitest";
import { aRelease, workspace } from "../../testing/index.ts";
import { createSentObject } from "../referenced/sent-object.ts";
import type { WorkspaceObject } from "../referenced/workspace-object.ts";
import { createChartAccess } from "./chart-access.ts";

const key = `${workspace}/web`;
const source: SourceLocation = {
  kind: "http",
  repository: "https://charts.example.com",
  chart: "web",
};
const pem = "-----BEGIN CERTIFICATE-----\nrancher\n-----END CERTIFICATE-----";
const ownPem = "-----BEGIN CERTIFICATE-----\nown\n-----END CERTIFICATE-----";

type Texts = Readonly<Record<string, string>>;

/** Objects of namespaces, each known as soon as it is referenced. */
function setUp(present: Readonly<Record<string, Texts | Error>> = {}) {
  const contents = new Map(Object.entries(present));
  const named: string[] = [];
  const digests: string[] = [];
  /** Each content has a version of its own. */
  const versionOf = (digest: string): number => {
    if (!digests.includes(digest)) digests.push(digest);
    return digests.indexOf(digest);
  };
  const place = (namespace: string, ref: ObjectRef) => `${namespace} ${formatObjectRef(ref)}`;
  const access = createChartAccess({
    objects: {
      watch: (namespace, ref) => void named.push(place(namespace, ref)),
      unwatch: (namespace, ref) => void named.splice(named.indexOf(place(namespace, ref)), 1),
      known(namespace, ref): Promise<WorkspaceObject> {
        assert.ok(named.includes(place(namespace, ref)), "only what is named is known");
        const texts = contents.get(place(namespace, ref));
        if (texts instanceof Error) return Promise.reject(texts);
        if (texts === undefined) return Promise.resolve({ kind: "absent" });
        const digest = JSON.stringify(texts);
        const data = Object.fromEntries(
          Object.entries(texts).map(([name, text]) => [name, Buffer.from(text).toString("base64")]),
        );
        const resourceVersion = `v${versionOf(digest)}`;
        return Promise.resolve({
          kind: "present",
          resourceVersion,
          object: { data },
          sent: createSentObject({ data }),
        });
      },
    },
    log: silentLog(),
  });
  return { access, contents, named };
}

const listFailure = (status: number) => new KubeStatusError(String(status), { status, reason: "" });
const withSecret = (name: string, spec: HelmOp["spec"] = {}) =>
  aRelease({ helmSecretName: name, ...spec });
const login = { username: "me", password: "pw" };
const rancher = {
  "cattle-system Secret/tls-ca": { "cacerts.pem": pem },
  "cattle-system Secret/tls-ca-additional": { "ca-additional.pem": "more" },
};

describe("the hub's access to the chart source of a HelmOp", () => {
  test("uses no credentials without a Secret", async () => {
    const { access } = setUp();

    const { settingsFor, caBundle } = await access.of(aRelease());

    assert.deepEqual(settingsFor(source), {});
    assert.equal(caBundle, undefined);
  });

  test("has errors quote the source only where the caller allows that", async () => {
    const { access } = setUp();

    const { settingsFor } = await access.of(aRelease(), { showsResponses: true });

    assert.deepEqual(settingsFor(source), { showsResponses: true });
  });

  test("uses the Secret of its namespace, and its own insecureSkipTLSVerify", async () => {
    const { access } = setUp({
      [`${workspace} Secret/login`]: { ...login, insecureSkipVerify: "true" },
      "other Secret/login": { username: "foreign", password: "foreign" },
    });

    const own = await access.of(withSecret("login"));
    const strict = await access.of(withSecret("login", { insecureSkipTLSVerify: false }));

    assert.deepEqual(own.settingsFor(source), { ...login, insecureSkipVerify: true });
    assert.deepEqual(strict.settingsFor(source), login);
  });

  test("trusts Rancher's authorities when the Secret has none", async () => {
    const { access, contents } = setUp({ ...rancher, [`${workspace} Secret/login`]: login });

    const { settingsFor, caBundle } = await access.of(withSecret("login"));
    contents.set(`${workspace} Secret/login`, { ...login, cacerts: ownPem });
    const own = await access.of(withSecret("login"));

    assert.equal(caBundle, `${pem}\nmore`);
    assert.deepEqual(settingsFor(source), { ...login, caPem: `${pem}\nmore` });
    assert.deepEqual(own.settingsFor(source), { ...login, caPem: ownPem });
  });

  test("works without Rancher's authorities when the hub may not read them", async () => {
    const { access } = setUp({ "cattle-system Secret/tls-ca": listFailure(403) });

    assert.equal((await access.of(aRelease())).caBundle, undefined);
  });

  test("fails while Rancher's authorities cannot be read, so that no cluster loses them", async () => {
    const { access, contents } = setUp({ "cattle-system Secret/tls-ca": listFailure(500) });

    await assert.rejects(access.of(aRelease()), {
      code: "HELM_SECRET_UNUSABLE",
      message: "could not read the CA certificates of Rancher, Secret cattle-system/tls-ca: 500",
    });
    assert.deepEqual(access.keysUsing("cattle-system", { kind: "Secret", name: "tls-ca" }), [key]);

    contents.set("cattle-system Secret/tls-ca", { "cacerts.pem": pem });
    const { caBundle, version } = await access.of(aRelease());
    assert.deepEqual([caBundle, version], [pem, "v0"]);
  });

  const rejected: readonly (readonly [string, Texts | Error | undefined, RegExp])[] = [
    [
      "is missing",
      undefined,
      /^could not read Helm auth from secret: there is no Secret fleet-default\/login; retrying as soon as it is created$/,
    ],
    [
      "has a username and no password",
      { username: "me" },
      /^could not read Helm auth from secret: Secret fleet-default\/login: username is set in the secret, but password isn't$/,
    ],
    ["forbidden", new Error("403"), /^could not read Helm auth from secret: 403$/],
  ];
  for (const [what, texts, message] of rejected) {
    test(`is rejected with Fleet's message when the Secret ${what}, and watches the Secret`, async () => {
      const { access, contents } = setUp(
        texts === undefined ? {} : { [`${workspace} Secret/login`]: texts },
      );

      await assert.rejects(access.of(withSecret("login")), {
        code: "HELM_SECRET_UNUSABLE",
        message,
      });
      assert.deepEqual(access.keysUsing(workspace, { kind: "Secret", name: "login" }), [key]);

      contents.set(`${workspace} Secret/login`, login);
      assert.match((await access.of(withSecret("login"))).version, /^v\d$/);
    });
  }

  test("has a version derived from the Secrets' resource versions", async () => {
    const { access, contents } = setUp({
      [`${workspace} Secret/login`]: login,
      [`${workspace} Secret/next`]: { ...login, password: "next" },
    });
    const versionOf = async (name: string) => (await access.of(withSecret(name))).version;

    const seen = [await versionOf("login"), await versionOf("login")];
    contents.set(`${workspace} Secret/login`, { ...login, password: "rotated" });
    seen.push(await versionOf("login"), await versionOf("login"), await versionOf("next"));
    contents.set("cattle-system Secret/tls-ca", { "cacerts.pem": pem });
    seen.push(await versionOf("next"), (await access.of(aRelease())).version);

    assert.deepEqual(seen, ["v0", "v0", "v1", "v1", "v2", "v2 v3", "v3"]);
  });

  test("watches the Secrets that it depends on until it is forgotten", async () => {
    const { access, named } = setUp({ [`${workspace} Secret/login`]: login });
    await access.of(aRelease());
    const always = [...named];

    await access.of(withSecret("login"));
    assert.deepEqual(named, [...always, `${workspace} Secret/login`]);
    assert.deepEqual(access.keysUsing(workspace, { kind: "Secret", name: "other" }), []);
    assert.deepEqual(access.keysUsing("cattle-system", { kind: "Secret", name: "tls-ca" }), [key]);

    await access.of(aRelease());
    assert.deepEqual(named, always);
    await access.of(withSecret("login"));
    access.forget(key);
    assert.deepEqual(named, always);
    assert.deepEqual(access.keysUsing("cattle-system", { kind: "Secret", name: "tls-ca" }), []);
  });
});
