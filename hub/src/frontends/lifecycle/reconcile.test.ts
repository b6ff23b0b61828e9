import assert from "node:assert/strict";
import { type Bundle, bundles, type Condition, type Policy } from "@flotilla/shared/api";
import { helmOpFinalizer, helmOpLabel } from "@flotilla/shared/api/names";
import { AppError, commonErrors } from "@flotilla/shared/errors";
import { createStore } from "@flotilla/shared/kube/cache";
import { done } from "@flotilla/shared/kube/controller";
import type { KubeObject, ObjectMeta, Resource } from "@flotilla/shared/kube/objects";
import { aContext, createMemoryApiServer } from "@flotilla/shared/kube/testing";
import { createPatterns } from "@flotilla/shared/regex";
import { createFakeClock } from "@flotilla/shared/time/testing";
import { describe, test } from "vitest";
import { createPinSigner } from "../../rules/resolve/pin-signature.ts";
import { aPolicy, aRelease, httpPin, workspace } from "../../testing/index.ts";
import type { FrontEnd } from "./front-end.ts";
import { frontEndReconciler } from "./reconcile.ts";

/** A kind that nobody has, with the Bundles of HelmOps: what the life of every kind has in common is tested with it. */
interface Widget extends KubeObject {
  readonly spec: { readonly suspend?: boolean };
  readonly status?: WidgetStatus;
}

interface WidgetStatus {
  readonly conditions?: readonly Condition[];
  readonly text: string;
}

const widgets: Resource<Widget> = {
  group: "example.com",
  version: "v1",
  kind: "Widget",
  plural: "widgets",
  namespaced: true,
};
const key = `${workspace}/web`;
const reference = { repo: "https://charts.example.com", chart: "web", version: "~1.2" };
const pins = [{ ...reference, pin: httpPin("1.2.9") }];
const ownMetadata = { namespace: workspace, name: "web", labels: { [helmOpLabel]: "web" } };
const failure = new AppError(commonErrors.CANCELLED, "it is wrong");

type Overrides = Partial<FrontEnd<Widget, WidgetStatus, string>>;

function setUp(
  overrides: Overrides = {},
  { metadata, spec = {} }: { metadata?: Partial<ObjectMeta>; spec?: Widget["spec"] } = {},
) {
  const rest = createMemoryApiServer();
  const stores = {
    widgets: createStore<Widget>(),
    bundles: createStore<Bundle>(),
    policies: createStore<Policy>(),
  };
  const published: WidgetStatus[] = [];
  const calls: string[] = [];
  const widget = rest.put(widgets, {
    apiVersion: "example.com/v1",
    kind: "Widget",
    metadata: { namespace: workspace, name: "web", uid: "u", generation: 1, ...metadata },
    spec,
  });
  stores.widgets.set(widget);
  const frontEnd: FrontEnd<Widget, WidgetStatus, string> = {
    kind: "HelmOp",
    resource: widgets,
    store: stores.widgets,
    statuses: {
      current: ({ status }) => status,
      publish: (_, status) => void published.push(status),
    },
    isSuspended: ({ spec: { suspend } }) => suspend === true,
    compile: () => ({
      kind: "planned",
      release: aRelease(),
      resolve: () => {
        calls.push("resolve");
        return Promise.resolve({ kind: "resolved", charts: { pins }, decision: "deployed" });
      },
    }),
    decided: (_object, _status, text) => ({ text }),
    rejected: (_object, _status, { error, isInvalid }) => ({
      text: `${isInvalid ? "invalid" : "refused"}: ${error.message}`,
    }),
    ...overrides,
  };
  const reconcile = frontEndReconciler(frontEnd, {
    rest,
    bundles: stores.bundles,
    policies: stores.policies,
    patterns: createPatterns(),
    signer: createPinSigner(Buffer.from("key")),
    events: { record: () => undefined, flush: () => Promise.resolve() },
    clock: createFakeClock(),
  });
  return {
    ...{ rest, stores, published, calls },
    reconcile: () => reconcile(key, aContext()),
    bundle: () => rest.all(bundles)[0],
    finalizers: () => rest.all(widgets)[0]?.metadata.finalizers ?? [],
  };
}

describe("an object of a front end", () => {
  test("is compiled, resolved, kept as a signed Bundle, and gets a status", async () => {
    const { reconcile, bundle, finalizers, published } = setUp();

    await reconcile();

    assert.equal(bundle()?.spec.helm?.version, "1.2.9");
    assert.ok(bundle()?.spec.helmOpOptions?.pinSignature);
    assert.deepEqual(finalizers(), [helmOpFinalizer]);
    assert.deepEqual(published, [{ text: "deployed" }]);
  });

  test("that is invalid has nothing created for it", async () => {
    const { reconcile, rest, published } = setUp({ validate: () => failure });

    await reconcile();

    assert.deepEqual(rest.writes, []);
    assert.deepEqual(published, [{ text: "invalid: it is wrong" }]);
  });

  test("whose Bundle's name something else has leaves that alone", async () => {
    const { reconcile, rest, stores, published } = setUp();
    stores.bundles.set({ metadata: { namespace: workspace, name: "web" }, spec: {} });

    await reconcile();

    assert.deepEqual(rest.writes, []);
    assert.match(published[0]?.text ?? "", /^invalid: a Bundle .* exists already/);
  });

  test("that a Policy forbids asks no source for its chart", async () => {
    const { reconcile, calls, stores, rest, published } = setUp();
    stores.policies.set(aPolicy("strict", { requireServiceAccount: true }));

    await reconcile();

    assert.deepEqual([calls, rest.writes], [[], []]);
    assert.match(published[0]?.text ?? "", /^refused: serviceAccount is required by Policy/);
  });

  test("gets the defaults of Policies only where its kind takes them", async () => {
    for (const [takesDefaults, expected] of [
      [true, "deployer"],
      [false, undefined],
    ] as const) {
      const { reconcile, stores, bundle } = setUp({ takesDefaults });
      stores.policies.set(aPolicy("a", { helmOp: { defaultServiceAccount: "deployer" } }));

      await reconcile();

      assert.equal(bundle()?.spec.serviceAccount, expected);
    }
  });

  test("that waits for something is shown so, and nothing is written", async () => {
    const waiting = { kind: "waiting", decision: "no chart yet" } as const;
    const { reconcile, rest, published } = setUp({ compile: () => waiting });

    await reconcile();

    assert.deepEqual(rest.writes, []);
    assert.deepEqual(published, [{ text: "no chart yet" }]);
  });

  test("is decided by the status that it had when its reconcile began", async () => {
    const seen: unknown[] = [];
    let status: WidgetStatus | undefined = { text: "handled" };
    const { reconcile } = setUp({
      statuses: { current: () => status, publish: () => undefined },
      compile: async () => {
        await Promise.resolve();
        // It is written meanwhile, and forgotten for this version of the object.
        status = undefined;
        return { kind: "waiting", decision: "" };
      },
      decided: (_, before) => {
        seen.push(before);
        return { text: "" };
      },
    });

    await reconcile();

    assert.deepEqual(seen, [{ text: "handled" }]);
  });

  test("that is suspended is not read where its kind says so: its Bundle is suspended", async () => {
    const { reconcile, bundle, rest, stores, calls } = setUp(
      { suspended: () => ({ text: "suspended" }) },
      { spec: { suspend: true } },
    );
    const before = rest.put(bundles, {
      metadata: ownMetadata,
      spec: { namespace: "shop" },
    });
    stores.bundles.set(before);

    await reconcile();

    assert.deepEqual(bundle()?.spec, { namespace: "shop", suspend: true });
    assert.deepEqual(calls, []);
  });
});

describe("an object that is being deleted", () => {
  const metadata = {
    deletionTimestamp: "2026-01-01T00:00:00Z",
    finalizers: [helmOpFinalizer],
  };

  test("stays until its Bundle is gone, and its releases where its kind says so", async () => {
    let isUninstalling = true;
    const cleaned: string[] = [];
    const { reconcile, rest, stores, finalizers } = setUp(
      {
        isUninstalling: () => isUninstalling,
        cleanUp({ metadata: { name } }) {
          cleaned.push(name);
          return Promise.resolve();
        },
      },
      { metadata },
    );
    stores.bundles.set(rest.put(bundles, { metadata: ownMetadata, spec: {} }));

    assert.deepEqual(await reconcile(), done());
    assert.deepEqual(rest.all(bundles), []);
    assert.deepEqual(finalizers(), [helmOpFinalizer]);

    for (const bundle of stores.bundles.list()) stores.bundles.remove(bundle);
    await reconcile();
    assert.deepEqual([finalizers(), cleaned], [[helmOpFinalizer], []]);

    isUninstalling = false;
    await reconcile();
    assert.deepEqual([finalizers(), cleaned], [[], ["web"]]);
  });
});
