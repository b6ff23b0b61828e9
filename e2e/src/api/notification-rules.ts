/** Specs of Alerts, Providers and Receivers that Flux accepts and that it rejects. */
import { cases, type FluxCase, long, ref } from "./flux-case.ts";

export const notificationCases: readonly FluxCase[] = [
  ...cases("Alert", [
    ["labels and lists", { inclusionList: ["("], exclusionList: ["a"], eventMetadata: { a: "b" } }],
    [
      "sources of every kind",
      {
        eventSources: [
          "Kustomization",
          "ImagePolicy",
          "ArtifactGenerator",
          "HelmOp",
          "Cluster",
        ].map((kind) => ({ kind, name: "a", namespace: "b", apiVersion: "c", matchLabels: {} })),
      },
    ],
    ["no sources", { eventSources: [] }],
    ["no Provider", { providerRef: undefined }, /spec\.providerRef: Required value/],
    ["an unknown severity", { eventSeverity: "debug" }, /spec\.eventSeverity: Unsupported value/],
    ["an unknown kind", { eventSources: [{ kind: "Pod", name: "*" }] }, /kind: Unsupported value/],
    ["no name", { eventSources: [{ kind: "Bucket", name: "" }] }, /name: .*at least 1/],
    ["a long summary", { summary: long(256) }, /spec\.summary: .*255/],
  ]),
  ...cases("Provider", [
    ["a status of commits", { type: "gitea", commitStatusExpr: "'a'" }],
    [
      "every text",
      { address: "a", channel: "b", username: "c", proxy: "http://p", interval: "1h" },
    ],
    ["each Secret", { secretRef: ref, certSecretRef: ref, proxySecretRef: ref, suspend: true }],
    ["a type that is not supported here", { type: "otel" }],
    ["no type", { type: undefined }, /spec\.type: Required value/],
    ["an unknown type", { type: "irc" }, /spec\.type: Unsupported value: "irc"/],
    ["a timeout in hours", { timeout: "1h" }, /spec\.timeout: Invalid value: "1h"/],
    ["a long address", { address: long(2049) }, /spec\.address: .*2048/],
    ["a proxy without a protocol", { proxy: "p" }, /spec\.proxy: Invalid value/],
    [
      "an expression for a chat",
      { type: "slack", commitStatusExpr: "'a'" },
      /commitStatusExpr is for the types 'github'/,
    ],
  ]),
  ...cases("Receiver", [
    ["events and filters", { events: ["push"], resourceFilter: "true" }],
    [
      "tokens of an issuer",
      { type: "generic-oidc", secretRef: undefined, oidcProviders: [oidc("https://a")] },
    ],
    ["no resources", { resources: undefined }, /spec\.resources: Required value/],
    ["an unknown type", { type: "svn" }, /spec\.type: Unsupported value: "svn"/],
    ["no Secret", { secretRef: undefined }, /secretRef is missing/],
    [
      "tokens without an issuer",
      { type: "generic-oidc", secretRef: undefined },
      /needs oidcProviders/,
    ],
    [
      "tokens with a Secret",
      { type: "generic-oidc", oidcProviders: [oidc("https://a")] },
      /'generic-oidc' has no secretRef/,
    ],
    [
      "issuers for GitHub",
      { type: "github", oidcProviders: [oidc("https://a")] },
      /only: remove it/,
    ],
    [
      "an issuer twice",
      {
        type: "generic-oidc",
        secretRef: undefined,
        oidcProviders: [oidc("https://a"), oidc("https://a")],
      },
      /oidcProviders\[1\]: Duplicate value/,
    ],
    [
      "an issuer without a protocol",
      { type: "generic-oidc", secretRef: undefined, oidcProviders: [oidc("a")] },
      /issuerURL: Invalid value/,
    ],
    [
      "an issuer without validations",
      {
        type: "generic-oidc",
        secretRef: undefined,
        oidcProviders: [{ issuerURL: "https://a", validations: [] }],
      },
      /validations: .*at least 1/,
    ],
    ["an interval in days", { interval: "1d" }, /spec\.interval: Invalid value: "1d"/],
  ]),
];

function oidc(issuerURL: string) {
  return {
    issuerURL,
    variables: [{ name: "a", expression: "claims.a" }],
    validations: [{ expression: "vars.a == 'b'", message: "a is not b" }],
  };
}
