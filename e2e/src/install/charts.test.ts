/**
 * What the charts of the hub and of the agent render for each file in their folder `ci`, and which values they refuse.
 * `FLOTILLA_UPDATE=1` writes the expected output again.
 */
import assert from "node:assert/strict";
import { execFile } from "node:child_process";
import { readdirSync } from "node:fs";
import { readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { promisify } from "node:util";
import { ensureBinaries } from "@flotilla/local/binaries";
import { describe, test } from "vitest";
import { parseAllDocuments } from "yaml";
import { chartDir, charts } from "../harness/chart-rights.ts";

const run = promisify(execFile);
const { helm } = await ensureBinaries(["helm"]);
const golden = join(import.meta.dirname, "golden");

const casesOf = (chart: string): readonly string[] =>
  readdirSync(join(chartDir(chart), "ci")).map((file) => file.replace("-values.yaml", ""));

const valuesFile = (chart: string, name: string): string =>
  join(chartDir(chart), "ci", `${name}-values.yaml`);

async function render(
  { chart, namespace }: { readonly chart: string; readonly namespace: string },
  ...args: readonly string[]
): Promise<string> {
  const { stdout } = await run(helm, [
    ...["template", chart, chartDir(chart), `--namespace=${namespace}`],
    ...args,
  ]);
  return stdout;
}

interface PodLike {
  readonly securityContext?: Readonly<Record<string, unknown>>;
  readonly containers: readonly { readonly securityContext?: Readonly<Record<string, unknown>> }[];
}

interface Alert {
  readonly alert: string;
  readonly expr: string;
  readonly for: string;
  readonly labels: Readonly<Record<string, string>>;
  readonly annotations: Readonly<Record<string, string>>;
}

interface ObjectLike {
  readonly kind: string;
  readonly metadata: { readonly annotations?: Readonly<Record<string, string>> };
  readonly spec?: PodLike & {
    readonly template?: { readonly spec: PodLike };
    readonly groups?: readonly { readonly rules: readonly Alert[] }[];
  };
}

function objectsIn(rendered: string): readonly ObjectLike[] {
  return parseAllDocuments(rendered).flatMap((each) => {
    const object = each.toJS() as ObjectLike | null;
    return object === null ? [] : [object];
  });
}

/** The pods that a chart makes, its tests included. */
function podsIn(rendered: string): readonly PodLike[] {
  return objectsIn(rendered).flatMap(({ kind, spec }) => {
    if (spec === undefined) return [];
    return spec.template !== undefined ? [spec.template.spec] : kind === "Pod" ? [spec] : [];
  });
}

for (const each of Object.values(charts)) {
  const { chart, namespace } = each;
  describe(`the chart ${chart}`, () => {
    for (const name of casesOf(chart)) {
      test(`renders what is expected with the values ${name}`, async () => {
        const rendered = await render(each, `--values=${valuesFile(chart, name)}`);

        const file = join(golden, `${chart}-${name}.yaml`);
        if (process.env["FLOTILLA_UPDATE"] === "1") await writeFile(file, rendered);
        assert.equal(rendered, await readFile(file, "utf8"));
      });

      test(`passes helm lint --strict with the values ${name}`, async () => {
        const args = ["lint", "--strict", chartDir(chart), `--namespace=${namespace}`];

        const { stdout } = await run(helm, [...args, `--values=${valuesFile(chart, name)}`]);

        assert.match(stdout, /1 chart\(s\) linted, 0 chart\(s\) failed/);
      });
    }

    test("gives no pod more than the restricted Pod Security Standard allows", async () => {
      const pods = podsIn(await render(each));

      assert.ok(pods.length > 0);
      for (const pod of pods) {
        assert.deepEqual(pod.securityContext?.["seccompProfile"], { type: "RuntimeDefault" });
        assert.equal(pod.securityContext["runAsNonRoot"], true);
        for (const { securityContext } of pod.containers)
          assert.deepEqual(securityContext, {
            allowPrivilegeEscalation: false,
            readOnlyRootFilesystem: true,
            capabilities: { drop: ["ALL"] },
          });
      }
    });

    test("has no hook that runs when it is installed, upgraded or uninstalled", async () => {
      const rendered = await render(each);

      const hooks = [...rendered.matchAll(/helm\.sh\/hook: (.*)/g)].map(([, hook]) => hook);
      assert.ok(
        hooks.every((hook) => hook === "test"),
        hooks.join(),
      );
    });

    test("is refused in another namespace, with the command that is right", async () => {
      await assert.rejects(
        render({ chart, namespace: "default" }),
        new RegExp(`into the namespace ${namespace}, not default: helm install`),
      );
    });
  });
}

/** The alerts of the hub's chart. PromQL is not evaluated: no evaluator is at hand, so expressions are compared as they are. */
async function alerts(): Promise<ReadonlyMap<string, Alert>> {
  const rendered = await render(charts.hub, `--values=${valuesFile("flotilla", "local")}`);
  const rules = objectsIn(rendered).filter(({ kind }) => kind === "PrometheusRule");
  assert.equal(rules.length, 1);
  const found = rules.flatMap(({ spec }) => spec?.groups ?? []).flatMap((group) => group.rules);
  return new Map(found.map((each) => [each.alert, each]));
}

describe("the alerts of the hub", () => {
  test("fire when no replica leads, and when there is no hub at all, which has no metrics", async () => {
    const rule = (await alerts()).get("FlotillaHubWithoutLeader");

    // Both for the namespace of the release, by an equality: the labels of absent() are those of its equalities.
    const leaders = 'flotilla_hub_leader{namespace="flotilla-system"}';
    assert.deepEqual(rule?.expr.split(" or "), [
      `sum by (namespace) (${leaders}) == 0`,
      `absent(${leaders})`,
    ]);
    // Longer than a failover, in which no replica leads for up to a minute.
    assert.equal(rule.for, "2m");
    assert.equal(rule.labels["severity"], "critical");
  });

  test("keep the labels of which their texts and namespaces are made", async () => {
    for (const { alert, expr, annotations } of (await alerts()).values()) {
      const [, kept = ""] = /^(?:sum|min) by \(([\w, ]+)\) \(/.exec(expr) ?? [];
      const labels = kept.split(", ");
      assert.ok(labels.includes("namespace"), alert);
      for (const [, label] of Object.values(annotations)
        .join()
        .matchAll(/\$labels\.(\w+)/g))
        assert.ok(labels.includes(label ?? ""), `${alert}: ${label}`);
    }
  });

  test("read metrics that the documentation has", async () => {
    const operations = await readFile(
      join(import.meta.dirname, "../../../docs/operations.md"),
      "utf8",
    );
    const [row = ""] = /^\| `\/metrics` of the hub .*$/m.exec(operations) ?? [];

    for (const { alert, expr } of (await alerts()).values()) {
      const metrics = expr.match(/\bflotilla_\w+/g) ?? [];
      assert.ok(metrics.length > 0, alert);
      for (const metric of metrics) assert.ok(row.includes(`\`${metric}\``), `${alert}: ${metric}`);
    }
  });
});

describe("wrong values", () => {
  const rows: readonly (readonly [what: string, each: keyof typeof charts, set: string, RegExp])[] =
    [
      ["a misspelt name", "hub", "replica=3", /additional properties 'replica' not allowed/],
      ["a negative number of replicas", "hub", "replicas=-1", /'\/replicas': minimum/],
      ["an address without a port", "hub", "agents.address=hub", /'\/agents\/address'/],
      ["a digest that is none", "hub", "image.digest=latest", /'\/image\/digest'/],
      [
        "an unknown service type",
        "hub",
        "agents.service.type=External",
        /'\/agents\/service\/type'/,
      ],
      ["a port out of range", "hub", "http.port=70000", /'\/http\/port': maximum/],
      [
        "an OpenID provider without a client",
        "hub",
        "dashboard.oidc.enabled=true",
        /'\/dashboard\/oidc\/clientID': minLength/,
      ],
      [
        "an OpenID provider without TLS",
        "hub",
        "dashboard.oidc.issuerURL=http://id.example.com",
        /'\/dashboard\/oidc\/issuerURL'/,
      ],
      [
        "an OpenID provider without the address of the dashboard",
        "hub",
        "dashboard.oidc.enabled=true,dashboard.oidc.issuerURL=https://id.example.com,dashboard.oidc.clientID=a,dashboard.oidc.existingSecret=b",
        /'\/dashboard\/url': minLength/,
      ],
      [
        "a prefix for users that are Kubernetes' own",
        "hub",
        "dashboard.oidc.usernamePrefix=system:",
        /'\/dashboard\/oidc\/usernamePrefix': 'not' failed/,
      ],
      [
        "a login whose groups would be those of the cluster",
        "hub",
        "dashboard.url=https://flotilla.example.com,dashboard.oidc.enabled=true,dashboard.oidc.issuerURL=https://id.example.com,dashboard.oidc.clientID=a,dashboard.oidc.existingSecret=b",
        /dashboard\.oidc\.groupsPrefix is empty: a group of the provider would have the rights/,
      ],
      ["an unknown log level", "agent", "logLevel=loud", /'\/logLevel'/],
      [
        "an Ingress without the annotation for passthrough",
        "hub",
        "agents.ingress.enabled=true,agents.ingress.host=a.example.com,agents.address=a.example.com:443",
        /an Ingress that ends TLS removes the agents' certificates/,
      ],
      [
        "an Ingress for agents without the address that they use",
        "hub",
        "agents.ingress.enabled=true,agents.ingress.host=a.example.com,agents.ingress.annotations.a=b",
        /agents\.address is empty: set the host:port/,
      ],
      [
        "an Ingress for webhooks without a certificate",
        "hub",
        "http.ingress.enabled=true,http.ingress.host=a.example.com",
        /'\/http\/ingress\/tlsSecret': minLength/,
      ],
      [
        "a registration without a token",
        "agent",
        "registration.create=true,registration.address=a:443",
        /'\/registration\/token': minLength/,
      ],
      ["a number of agents that is none", "agent", "replicas=two", /'\/replicas'/],
      [
        "a disruption budget that allows none",
        "agent",
        "podDisruptionBudget.maxUnavailable=0",
        /'\/podDisruptionBudget\/maxUnavailable'/,
      ],
      [
        "impersonation without a namespace",
        "agent",
        "impersonation.required=true",
        /'\/impersonation\/namespaces': minItems/,
      ],
      [
        "namespaces without impersonation",
        "agent",
        "impersonation.namespaces={team-a}",
        /'\/impersonation\/namespaces': maxItems/,
      ],
      [
        "impersonation of accounts of Kubernetes",
        "agent",
        "impersonation.required=true,impersonation.namespaces={team-a,kube-system}",
        /'\/impersonation\/namespaces\/1': 'not' failed/,
      ],
      [
        "impersonation of accounts of the agent's namespace",
        "agent",
        "impersonation.required=true,impersonation.namespaces={flotilla-agent}",
        /'\/impersonation\/namespaces\/0': 'not' failed/,
      ],
      [
        "impersonation of accounts of a namespace with Kubernetes' prefix",
        "agent",
        "impersonation.required=true,impersonation.namespaces={kube-flannel}",
        /impersonation\.namespaces has kube-flannel: accounts of that namespace have rights of the cluster/,
      ],
      ["a quantity that is none", "agent", "dataSizeLimit=much", /'\/dataSizeLimit'/],
    ];
  for (const [what, name, set, expected] of rows) {
    test(`are refused with their path: ${what}`, () =>
      assert.rejects(render(charts[name], `--set=${set}`), expected));
  }
});
