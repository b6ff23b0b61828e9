/** The command lines are those that helmfile v1.7.4 wrote. */
import assert from "node:assert/strict";
import { describe, test } from "vitest";
import { type HelmCommand, parseHelmCommand } from "./helm-command.ts";
import { releaseFlags } from "./upgrade-flags.ts";

const understood: readonly (readonly [args: string, expected: HelmCommand])[] = [
  ["version --short", { kind: "version" }],
  ["plugin list", { kind: "plugins" }],
  [
    "repo add stable https://charts.example.com --force-update",
    {
      kind: "repository",
      name: "stable",
      url: "https://charts.example.com",
      readsPassword: false,
      passesCredentials: false,
      skipsVerification: false,
    },
  ],
  [
    "repo add own https://c.example.com --force-update --pass-credentials --username u --password-stdin",
    {
      kind: "repository",
      name: "own",
      url: "https://c.example.com",
      username: "u",
      readsPassword: true,
      passesCredentials: true,
      skipsVerification: false,
    },
  ],
  [
    "registry login registry.example.com --insecure --username u --password-stdin",
    {
      kind: "login",
      host: "registry.example.com",
      username: "u",
      readsPassword: true,
      skipsVerification: true,
    },
  ],
  ["repo update", { kind: "nothing" }],
  [
    "pull oci://registry.example.com/charts/app --destination /c/app/1.0.0 --untar --version 1.0.0",
    {
      kind: "pull",
      chart: "oci://registry.example.com/charts/app",
      version: "1.0.0",
      includesDevelopment: false,
      destination: "/c/app/1.0.0",
      unpacks: true,
    },
  ],
  [
    "fetch stable/redis --devel --untar --untardir /c/redis",
    {
      kind: "pull",
      chart: "stable/redis",
      includesDevelopment: true,
      destination: "/c/redis",
      unpacks: true,
    },
  ],
  ["dependency build charts/app", { kind: "dependencies", chart: "charts/app" }],
  ["--kube-context prod repo update", { kind: "nothing" }],
  ["version --template={{.Version}}+g{{.GitCommit}}", { kind: "version" }],
  [
    "template --debug=false --output-dir=/c/out --include-crds web /c/web -f /c/web/values.yaml -f a --namespace hf --dry-run=server --kube-context x",
    {
      kind: "template",
      arguments: [
        "template",
        "--debug=false",
        "--output-dir=/c/out",
        "--include-crds=true",
        "--values=/c/web/values.yaml",
        "--values=a",
        "--namespace=hf",
        "--",
        "web",
        "/c/web",
      ],
    },
  ],
  ["show chart stable/redis", { kind: "show", chart: "stable/redis" }],
  [
    "list --filter ^gone$ --namespace hf --uninstalling --deployed --failed --pending",
    { kind: "list", filter: "^gone$", namespace: "hf" },
  ],
  ["delete gone --namespace hf", { kind: "uninstall", name: "gone", namespace: "hf" }],
  [
    "upgrade --install web charts/app --wait --timeout 120s --create-namespace --namespace hf --values a,b --set replicas=2 --reset-values --history-max 10",
    {
      kind: "upgrade",
      name: "web",
      chart: "charts/app",
      namespace: "hf",
      options: {
        wait: "watcher",
        timeout: "120s",
        "create-namespace": true,
        "history-max": "10",
      },
      values: [
        { flag: "values", text: "a" },
        { flag: "values", text: "b" },
        { flag: "set", text: "replicas=2" },
      ],
    },
  ],
  [
    "upgrade --install far stable/redis --version ~1.2 --kube-context prod --wait --wait=legacy --skip-crds --skip-crds=false",
    {
      kind: "upgrade",
      name: "far",
      chart: "stable/redis",
      version: "~1.2",
      kubeContext: "prod",
      options: { wait: "legacy" },
      values: [],
    },
  ],
];

describe("a command of helmfile", () => {
  for (const [args, expected] of understood)
    test(`is understood: ${args}`, () => {
      assert.deepEqual(parseHelmCommand(args.split(" ")), expected);
    });

  for (const [name, { kind }] of Object.entries(releaseFlags))
    test(`passes on the option --${name}`, () => {
      const texts: Readonly<Record<string, string>> = {
        "history-max": "3",
        timeout: "5m",
        wait: "legacy",
        "server-side": "false",
      };
      const value = kind === "switch" ? true : (texts[name] ?? "text");
      const flag = value === true ? `--${name}` : `--${name}=${value}`;
      const command = parseHelmCommand(["upgrade", "--install", "a", "./a", flag]);
      assert.deepEqual(command.kind === "upgrade" && command.options, { [name]: value });
    });
});

/** Each flag that Helm or helmfile knows and a helmfile may not use. */
const refusedFlags = [
  "--reuse-values",
  "--reset-then-reuse-values",
  "--recreate-pods",
  "--adopt=deployment/a",
  "--post-renderer=x",
  "--post-renderer-args=x",
  "--dry-run",
  "--kubeconfig=x",
  "--kube-apiserver=x",
  "--kube-as-group=x",
  "--kube-as-user=system:admin",
  "--kube-ca-file=x",
  "--kube-insecure-skip-tls-verify",
  "--kube-tls-server-name=x",
  "--kube-token=secret",
  "--burst-limit=1",
  "--qps=1",
  "--username=u",
  "--password=secret",
  "--pass-credentials",
  "--registry-config=x",
  "--repository-config=x",
  "--repository-cache=x",
  "--ca-file=x",
  "--cert-file=x",
  "--key-file=x",
  "--set-json=a=1",
  "--no-hooks",
  "--output=json",
  "--debug",
  "--content-cache=x",
  "--made-up",
];

describe("a command that a helmfile may not run", () => {
  for (const flag of refusedFlags)
    test(`is refused by the name of its flag and release: ${flag}`, () => {
      const command = parseHelmCommand(["upgrade", "--install", "web", "./a", flag]);
      const name = flag.split("=", 1)[0];
      assert.equal(command.kind, "refused");
      assert.match(
        "why" in command ? command.why : "",
        new RegExp(`^helm upgrade web: ${name}: .`),
      );
      assert.doesNotMatch(JSON.stringify(command), /secret/);
    });

  const refused: readonly (readonly [args: string, why: string])[] = [
    ["rollback web", "helm: the command helm rollback is not one that a helmfile may run here"],
    ["secrets view x", "helm: the command helm secrets is not one that a helmfile may run here"],
    ["Pass/Word", "helm: the command helm is not one that a helmfile may run here"],
    [
      "--kube-token=x version",
      "helm: --kube-token: the agent decides how the cluster is reached, and as which account",
    ],
    ["upgrade --install web", "helm upgrade web: it needs the name of a release and a chart"],
    [
      "upgrade --install a b --timeout soon",
      "helm upgrade a: --timeout: expected a duration such as 5m",
    ],
    [
      "upgrade --install a b --history-max many",
      "helm upgrade a: --history-max: expected a number",
    ],
    [
      "upgrade --install a b --wait=long",
      "helm upgrade a: --wait: expected watcher or legacy or hookOnly",
    ],
    ["show chart https://u:secret@h/c.tgz --x", "helm show chart: --x: it is not supported"],
    [
      "template a ./a --post-renderer x",
      "helm template a: --post-renderer: a post-renderer is a program; write spec.postRenderers of the Helmfile, or strategicMergePatches of the release",
    ],
    ["template a ./a --show-only=x", "helm template a: --show-only: it is not supported"],
    ["repo add own", "helm repo add own: it needs a name and an address"],
  ];
  for (const [args, why] of refused)
    test(`is refused: ${args}`, () => {
      assert.deepEqual(parseHelmCommand(args.split(" ")), { kind: "refused", why });
    });
});
