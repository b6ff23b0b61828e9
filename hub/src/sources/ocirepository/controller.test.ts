import assert from "node:assert/strict";
import { type OCIRepositorySpec, ociRepositories } from "@flotilla/shared/flux";
import { describeRequest, digestOf } from "@flotilla/shared/source/testing";
import { describe, test } from "vitest";
import { generatedKey, helmLayer, signManifest, startTestRegistry } from "./testing/index.ts";

const planted = "planted-password";

describe("an OCIRepository", () => {
  test("with ref.tag has the tag and its digest as revision, with conditions, artifact and observedGeneration", async (t) => {
    const { server, push, create, until, statusOf, condition, pinOf, events } =
      await startTestRegistry(t);
    const digest = digestOf(push("1.0.0"));
    create({ ref: { tag: "1.0.0" }, layerSelector: { mediaType: helmLayer, operation: "copy" } });

    const artifact = await until(() => statusOf()?.artifact);
    assert.equal(artifact.revision, `1.0.0@${digest}`);
    assert.equal(artifact.digest, digestOf("chart 1.0.0"));
    assert.equal(artifact.size, 5);
    assert.equal(artifact.url, `oci://${server.host}/team/web@${digest}`);
    assert.equal(artifact.path, `ocirepository/apps/web/${digest}.tar.gz`);
    assert.equal(artifact.metadata?.["org.opencontainers.image.version"], "1.0.0");
    const { tag, version, manifestDigest, layerDigest } = pinOf() ?? {};
    assert.deepEqual(
      [tag, version, manifestDigest, layerDigest],
      ["1.0.0", `1.0.0+${digest.slice(7, 19)}`, digest, digestOf("chart 1.0.0")],
    );
    const { observedGeneration, observedLayerSelector, url } = statusOf() ?? {};
    assert.deepEqual([observedGeneration, url], [1, artifact.url]);
    assert.deepEqual(observedLayerSelector, { mediaType: helmLayer, operation: "copy" });
    const message = `stored artifact for digest '1.0.0@${digest}'`;
    for (const type of ["Ready", "ArtifactInStorage"]) {
      const { status, reason, message: said, observedGeneration: of } = condition(type) ?? {};
      assert.deepEqual([status, reason, said, of], ["True", "Succeeded", message, 1]);
    }
    assert.equal(condition("Reconciling"), undefined);
    assert.deepEqual(events, ["Normal NewArtifact"]);
  });

  test("without ref has the tag latest", async (t) => {
    const { push, create, until, statusOf } = await startTestRegistry(t);
    const digest = digestOf(push("1.0.0", "latest"));
    create();

    assert.equal((await until(() => statusOf()?.artifact)).revision, `latest@${digest}`);
  });

  test("with ref.digest has the digest alone as revision, and requests no tag", async (t) => {
    const { server, push, create, until, statusOf, pinOf } = await startTestRegistry(t);
    const digest = digestOf(push("1.0.0"));
    push("2.0.0", "1.0.0");
    push("1.0.0", "old");
    create({ ref: { digest, tag: "1.0.0", semver: "*" } });

    assert.equal((await until(() => statusOf()?.artifact)).revision, digest);
    assert.equal(pinOf()?.manifestDigest, digest);
    assert.equal(server.seen.map(describeRequest)[0], `GET manifests/${digest}`);
  });

  const constraints: readonly (readonly [
    ref: NonNullable<OCIRepositorySpec["ref"]>,
    tag: string,
  ])[] = [
    [{ semver: "1.x" }, "1.1.0"],
    [{ semver: ">=1.0.0-0", semverFilter: "-rc" }, "2.0.0-rc.1"],
    [{ semver: "*", semverFilter: "^1\\.0" }, "1.0.0"],
    [{ semver: "*", tag: "1.0.0" }, "2.0.0"],
  ];
  for (const [ref, tag] of constraints)
    test(`with ref ${JSON.stringify(ref)} has the tag ${tag}`, async (t) => {
      const { push, create, until, statusOf } = await startTestRegistry(t);
      for (const version of ["1.0.0", "1.1.0", "2.0.0-rc.1", "2.0.0"]) push(version);
      create({ ref });

      const { revision } = await until(() => statusOf()?.artifact);
      assert.equal(revision.split("@")[0], tag);
    });

  test("whose ref.semver no tag satisfies is not Ready, and says which tags there are", async (t) => {
    const { push, create, until, condition } = await startTestRegistry(t);
    push("1.0.0");
    create({ ref: { semver: "2.x" } });

    const { reason, message } = await until(() => condition("FetchFailed"));
    assert.equal(reason, "ReadOperationFailed");
    assert.match(message ?? "", /no match found for semver: 2.x.*1\.0\.0; retrying at/);
  });

  test("has a tag that was pushed again after requestedAt, which costs one HEAD request while nothing changes", async (t) => {
    const { server, push, create, reconcile, until, statusOf, pinOf, events } =
      await startTestRegistry(t);
    push("1.0.0", "latest");
    create();
    const before = await until(() => statusOf()?.artifact);
    const seen = server.seen.length;

    await reconcile("one");
    assert.deepEqual(server.seen.slice(seen).map(describeRequest), ["HEAD manifests/latest"]);
    assert.deepEqual(statusOf()?.artifact, before);
    assert.deepEqual(events, ["Normal NewArtifact"]);

    const digest = digestOf(push("1.1.0", "latest"));
    await reconcile("two");
    assert.equal(statusOf()?.artifact?.revision, `latest@${digest}`);
    assert.equal(pinOf()?.version, `1.1.0+${digest.slice(7, 19)}`);
    assert.deepEqual(events, ["Normal NewArtifact", "Normal NewArtifact"]);
  });

  test("that has suspend keeps its artifact, handles requestedAt without a request, and continues after it", async (t) => {
    const { server, push, create, change, reconcile, until, statusOf } = await startTestRegistry(t);
    push("1.0.0", "latest");
    create();
    const before = await until(() => statusOf()?.artifact);
    const digest = digestOf(push("1.1.0", "latest"));
    const seen = server.seen.length;

    change(ociRepositories, "web", { spec: { suspend: true } });
    await until(() => (statusOf()?.observedGeneration === 2 ? true : undefined));
    await reconcile("while suspended");
    assert.equal(server.seen.length, seen);
    assert.deepEqual(statusOf()?.artifact, before);

    change(ociRepositories, "web", { spec: { suspend: false } });
    await until(() => (statusOf()?.artifact?.revision === `latest@${digest}` ? true : undefined));
  });

  test("with wrong credentials is not Ready without showing them, and is read as soon as the Secret is right", async (t) => {
    const { server, registry, push, create, putSecret, until, condition, rest, events } =
      await startTestRegistry(t);
    push("1.0.0", "latest");
    registry.authorization = `Basic ${Buffer.from("me:right").toString("base64")}`;
    const login = (password: string) =>
      putSecret("login", {
        ".dockerconfigjson": JSON.stringify({
          auths: { [server.host]: { username: "me", password } },
        }),
      });
    login(planted);
    create({ secretRef: { name: "login" } });

    const { reason, message } = await until(() => condition("FetchFailed"));
    assert.equal(reason, "OCIArtifactPullFailed");
    assert.match(message ?? "", /manifests\/latest.*401.*retrying at/);
    assert.ok(events.includes("Warning OCIArtifactPullFailed"));
    assert.ok(!JSON.stringify(rest.all(ociRepositories)).includes(planted));

    login("right");
    await until(() => (condition("Ready")?.status === "True" ? true : undefined));
  });

  test("whose registry is unreachable keeps its artifact and is retried again and again", async (t) => {
    const { push, create, change, until, statusOf, condition } = await startTestRegistry(t);
    push("1.0.0", "latest");
    create();
    const before = await until(() => statusOf()?.artifact);
    change(ociRepositories, "web", { spec: { url: "oci://127.0.0.1:1/team/web" } });

    await until(() => ((statusOf()?.polling?.failures ?? 0) >= 2 ? true : undefined));
    const ready = condition("Ready");
    assert.deepEqual([ready?.status, ready?.reason], ["False", "OCIArtifactPullFailed"]);
    assert.match(ready?.message ?? "", /127\.0\.0\.1:1.*retrying at/);
    assert.equal(condition("Reconciling")?.reason, "ProgressingWithRetry");
    assert.deepEqual(statusOf()?.artifact, before);
  });

  test("with a layerSelector of an unknown media type says so", async (t) => {
    const { push, create, until, condition } = await startTestRegistry(t);
    push("1.0.0", "latest");
    create({ layerSelector: { mediaType: "text/plain", operation: "copy" } });

    const { reason, message } = await until(() => condition("FetchFailed"));
    assert.equal(reason, "OCIArtifactPullFailed");
    assert.match(message ?? "", /no layer with media type 'text\/plain' in the artifact/);
  });

  test("with verify has SourceVerified True for a signed revision, and False for one that is not", async (t) => {
    const { registry, push, create, putSecret, reconcile, until, statusOf, condition, events } =
      await startTestRegistry(t);
    const manifest = push("1.0.0", "latest");
    putSecret("keys", { "team.pub": signManifest(registry, manifest) });
    create({ verify: { provider: "cosign", secretRef: { name: "keys" } } });
    const before = await until(() => statusOf()?.artifact);
    const verified = condition("SourceVerified");
    assert.deepEqual([verified?.status, verified?.reason], ["True", "Succeeded"]);
    assert.equal(verified?.message, `verified signature of revision latest@${digestOf(manifest)}`);

    push("1.1.0", "latest");
    await reconcile("unsigned");
    for (const type of ["SourceVerified", "Ready"]) {
      const { status, reason, message } = condition(type) ?? {};
      assert.deepEqual([status, reason], ["False", "VerificationError"]);
      assert.match(message ?? "", /no matching signatures were found for oci:.*; retrying at/);
    }
    assert.deepEqual(statusOf()?.artifact, before, "the unsigned revision is not used");
    assert.ok(events.includes("Warning VerificationError"));
  });

  test("with verify is verified again when the trusted keys change, also after the registry was down", async (t) => {
    const { registry, push, create, putSecret, reconcile, until, statusOf, condition } =
      await startTestRegistry(t);
    const manifest = push("1.0.0", "latest");
    const key = signManifest(registry, manifest);
    putSecret("keys", { "team.pub": key });
    create({ verify: { provider: "cosign", secretRef: { name: "keys" } } });
    await until(() => statusOf()?.artifact);
    const isVerified = () => condition("SourceVerified")?.status;
    assert.equal(isVerified(), "True");
    const { tags } = registry;
    const kept = new Map(tags);

    // A failure that says nothing of the signature, with the new keys.
    tags.clear();
    putSecret("keys", { "team.pub": generatedKey() });
    await until(() => (condition("FetchFailed") === undefined ? undefined : true));
    await reconcile("down");
    assert.equal(isVerified(), "True");
    for (const [tag, text] of kept) tags.set(tag, text);
    await reconcile("up");
    assert.equal(isVerified(), "False");
    assert.equal(condition("Ready")?.reason, "VerificationError");

    putSecret("keys", { "team.pub": key });
    await until(() => (isVerified() === "True" ? true : undefined));
  });

  const unverifiable: readonly (readonly [
    what: string,
    verify: NonNullable<OCIRepositorySpec["verify"]>,
    message: RegExp,
    stalls: boolean,
  ])[] = [
    [
      "whose Secret does not exist",
      { provider: "cosign", secretRef: { name: "none" } },
      /there is no Secret none/,
      false,
    ],
    ["without keys", { provider: "cosign" }, /keyless\) are not supported/, true],
    [
      "by notation",
      { provider: "notation", secretRef: { name: "none" } },
      /notation is not supported: use provider cosign/,
      true,
    ],
  ];
  for (const [what, verify, message, stalls] of unverifiable)
    test(`with verify ${what} has SourceVerified False and no artifact`, async (t) => {
      const { push, create, until, statusOf, condition } = await startTestRegistry(t);
      push("1.0.0", "latest");
      create({ verify });

      const verified = await until(() => condition("SourceVerified"));
      assert.deepEqual([verified.status, verified.reason], ["False", "VerificationError"]);
      assert.match(verified.message ?? "", message);
      assert.equal(condition("Stalled")?.status === "True", stalls);
      assert.equal(statusOf()?.artifact, undefined);
    });

  test("of a url with a tag is Stalled without a request", async (t) => {
    const { server, create, until, condition } = await startTestRegistry(t);
    create({ url: `oci://${server.host}/team/web:1.0.0` });

    assert.equal((await until(() => condition("Stalled"))).reason, "URLInvalid");
    assert.deepEqual(server.seen, []);
  });
});
