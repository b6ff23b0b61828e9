import assert from "node:assert/strict";
import type { Bundle } from "@flotilla/shared/api";
import { describe, test } from "vitest";
import { aBundle, aHelmOp, aPolicy, httpPin } from "../../testing/index.ts";
import { createPreparer, direct, helm, pins, signer, targets } from "./testing/index.ts";

describe("a Policy", () => {
  const noEvil = aPolicy("guard", { helmOp: { allowedHelmRepoPatterns: ["https://good/.*"] } });

  test("rejects a Bundle that violates it before any repository request, and accepts it once it allows it", async () => {
    const { prepare, requestedVersions, policyStore } = createPreparer({
      policies: [noEvil],
      answers: ["1.2.9"],
    });

    const rejected = await prepare(direct());
    assert.ok(rejected.kind === "notAccepted");
    assert.equal(rejected.error?.code, "POLICY_VIOLATION");
    assert.deepEqual(requestedVersions, []);

    policyStore.remove(noEvil);
    assert.equal((await prepare(direct())).kind, "resolved");
  });

  test("that limits repositories lets a Bundle see what its repository responds, and no other does", async () => {
    for (const [policies, isShown] of [
      [[], false],
      [[aPolicy("guard", { helmOp: { allowedChartPatterns: ["web"] } })], false],
      [[aPolicy("guard", { helmOp: { allowedHelmRepoPatterns: ["https://.*"] } })], true],
    ] as const) {
      const { prepare, shown } = createPreparer({ policies, answers: ["1.2.9"] });

      await prepare(direct());

      assert.deepEqual(shown, [isShown]);
    }
  });

  test("rejects a HelmOp's Bundle too", async () => {
    const { prepare } = createPreparer({ policies: [noEvil], helmOps: [aHelmOp()] });
    const bundle = signer.signed(aBundle({ helm, targets, helmOpOptions: { pins } }));

    assert.equal((await prepare(bundle)).kind, "notAccepted");
  });

  test("gives defaults to HelmOps: their Bundle waits for the HelmOp's controller, another is not accepted", async () => {
    const policies = [
      aPolicy("guard", {
        requireServiceAccount: true,
        helmOp: { defaultServiceAccount: "deployer" },
      }),
    ];
    const bundle = signer.signed(aBundle({ helm, targets, helmOpOptions: { pins } }));

    const ofHelmOp = createPreparer({ policies, helmOps: [aHelmOp()] });
    assert.deepEqual(await ofHelmOp.prepare(bundle), { kind: "waiting" });
    assert.equal((await createPreparer({ policies }).prepare(direct())).kind, "notAccepted");
  });

  test("that requires a ServiceAccount prevents the creation of namespaces, also in targets", async () => {
    const policies = [aPolicy("guard", { requireServiceAccount: true })];
    const { prepare } = createPreparer({ policies, helmOps: [aHelmOp()] });
    const bundle = signer.signed(
      aBundle({
        helm,
        serviceAccount: "deployer",
        targets: [{ clusterSelector: {}, createNamespace: true }],
        helmOpOptions: { pins },
      }),
    );

    const prepared = await prepare(bundle);

    assert.ok(prepared.kind === "deployable");
    assert.equal(prepared.spec.createNamespace, false);
    assert.equal(prepared.spec.targets?.[0]?.createNamespace, false);
    assert.equal(bundle.spec.createNamespace, undefined);
  });

  test("that allows a HelmOp's Bundle does not change it", async () => {
    const { prepare } = createPreparer({ helmOps: [aHelmOp()] });
    const bundle = signer.signed(aBundle({ helm, targets, helmOpOptions: { pins } }));

    const prepared = await prepare(bundle);

    assert.ok(prepared.kind === "deployable");
    assert.equal(prepared.spec, bundle.spec);
  });

  test("makes a HelmOp's Bundle with edited pins wait until the HelmOp's controller has written it", async () => {
    const { prepare } = createPreparer({ helmOps: [aHelmOp()] });
    const signed = signer.signed(aBundle({ helm, targets, helmOpOptions: { pins } }));
    const forged = aBundle({
      ...signed.spec,
      helmOpOptions: { ...signed.spec.helmOpOptions, pins: [{ ...helm, pin: httpPin("9.9.9") }] },
    });

    assert.deepEqual(await prepare(forged), { kind: "waiting" });
  });

  const owner = { uid: "uid-web", generation: 1 };
  const release = {
    kind: "HelmRelease" as const,
    ...{ name: "web", clusterNamespace: "fleet-local", ...owner },
  };
  const ownerOf = () => ({ metadata: { name: "web", ...owner } });
  const ofRelease = (valuesFrom: string) =>
    signer.signed(
      aBundle({
        ...{ helm, targets },
        helmOpOptions: {
          pins,
          origin: { ...release, valuesFrom: [{ kind: "Secret", name: valuesFrom, key: "a" }] },
        },
      }),
    );

  test("that a HelmRelease's Bundle violates rejects it, also when it is not deployed by the HelmRelease's controller", async () => {
    const policies = [aPolicy("guard", { helmOp: { allowedHelmSecretNames: ["login"] } })];
    const { prepare } = createPreparer({ policies, ownerOf });

    const rejected = await prepare(ofRelease("fleet-default/payroll"));
    assert.ok(rejected.kind === "notAccepted");
    assert.match(rejected.error?.message ?? "", /^disallowed Secret payroll in valuesFrom: /);
    assert.equal((await prepare(ofRelease("fleet-default/login"))).kind, "deployable");
  });

  test("of the namespace of a Secret says which may be used from other namespaces", async () => {
    const guard = aPolicy("guard", {
      ...{ requireServiceAccount: true, helmOp: { allowedHelmSecretNames: ["public"] } },
    });
    const policies = [{ ...guard, metadata: { ...guard.metadata, namespace: "infra" } }];
    const { prepare } = createPreparer({ policies, ownerOf });
    const using = (secret: string) =>
      signer.signed(
        aBundle({
          ...{ helm, targets },
          helmOpOptions: {
            pins,
            origin: { ...release, access: { kind: "HelmRepository", secret } },
          },
        }),
      );

    const rejected = await prepare(using("infra/login"));
    assert.ok(rejected.kind === "notAccepted");
    assert.match(
      rejected.error?.message ?? "",
      /^disallowed Secret login in secretRef of the HelmRepository: .*\(Policy infra\/guard\)/,
    );
    assert.equal((await prepare(using("infra/public"))).kind, "deployable");
    assert.equal((await prepare(using("fleet-default/login"))).kind, "deployable");
  });

  test("of the Clusters' namespace is not widened by one of the release's", async () => {
    const local = aPolicy("guard", { helmOp: { allowedHelmSecretNames: ["platform"] } });
    const policies = [
      { ...local, metadata: { ...local.metadata, namespace: "fleet-local" } },
      aPolicy("own", { helmOp: { allowedHelmSecretNames: ["payroll", "platform"] } }),
    ];
    const { prepare } = createPreparer({ policies, ownerOf });

    for (const name of ["payroll", "platform"])
      assert.equal((await prepare(ofRelease(`fleet-default/${name}`))).kind, "notAccepted");
  });

  const reserved: readonly (readonly [what: string, spec: Bundle["spec"]])[] = [
    ["an account of any namespace", { serviceAccount: "system:serviceaccount:kube-system:admin" }],
    [
      "an account of any namespace in a target",
      { targets: [{ clusterSelector: {}, serviceAccount: "system:serviceaccount:a:b" }] },
    ],
    [
      "a Secret of another namespace to copy",
      { downstreamResources: [{ kind: "Secret", name: "kube-system/login" }] },
    ],
    ["credentials of another namespace", { helmOpOptions: { helmOpSecretName: "a/login" } }],
    [
      "an origin",
      { helmOpOptions: { origin: { kind: "HelmRelease", name: "web", clusterNamespace: "a" } } },
    ],
  ];
  for (const [what, spec] of reserved)
    test(`makes a HelmOp's Bundle wait in which somebody has written ${what}`, async () => {
      const { prepare } = createPreparer({ helmOps: [aHelmOp()] });
      const signed = signer.signed(aBundle({ helm, targets, helmOpOptions: { pins } }));
      const helmOpOptions = { ...signed.spec.helmOpOptions, ...spec.helmOpOptions };

      assert.deepEqual(await prepare(aBundle({ ...signed.spec, ...spec, helmOpOptions })), {
        kind: "waiting",
      });
    });
});
