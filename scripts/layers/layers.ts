/**
 * The allowed direction of imports. `npm run check` enforces it, for type imports too, and also: no cycles between files or
 * nodes, and imports of another folder go through its index.ts. A node is a folder of <package>/src, or a
 * file that lies directly in src, as config.ts, errors.ts and main.ts do.
 */

/**
 * The packages of this repository that each package imports. Packages that start programs of another package import nothing
 * for it.
 */
export const packageImports: Readonly<Record<string, readonly string[]>> = {
  proto: [],
  shared: [],
  hub: ["proto", "shared"],
  agent: ["proto", "shared"],
  local: ["shared"],
  cli: ["agent", "local", "shared"],
  dashboard: ["shared"],
  e2e: ["agent", "cli", "hub", "local", "proto", "shared"],
};

/** Packages whose sources lie directly in src: src is a folder like others, with the entry point src/index.ts. */
export const flatPackages: readonly string[] = ["proto"];

/**
 * The layers of each package, lowest first: a node imports from its own layer and those below it. `a` includes all folders
 * in `a`, unless `a/b` has a layer of its own.
 */
export const layers: Readonly<Record<string, readonly (readonly string[])[]>> = {
  shared: [
    ["errors"],
    [
      "buildinfo",
      "cache",
      "cel",
      "concurrency",
      "json",
      "log",
      "process",
      "program",
      "reader",
      "regex",
      "selector",
      "text",
      "time",
      "undici",
      "version",
      "yaml",
    ],
    ["kube/objects"],
    ["kube/client"],
    ["kube/cache"],
    ["kube"],
    ["api", "conditions", "content", "dashboard", "flux", "referenced", "source", "values"],
  ],
  hub: [
    ["config.ts", "errors", "errors.ts", "oidc/config"],
    ["cache"],
    // Pure rules and libraries, without watches.
    [
      ...["authority", "clusterstate", "content", "egress", "fleetlease", "frontend", "identity"],
      "policy",
      ...["notification", "presence"],
      ...["referenced", "resolve", "rpc", "status", "summary", "targeting", "workspace"],
      ...["access", "appview", "oidc", "reader", "session"],
    ],
    // Controllers, each with its watches.
    [
      ...[
        "applied",
        "bundle",
        "bundledeployment",
        "cluster",
        "clustergroup",
        "contentgc",
        "helmop",
      ],
      ...["bucket", "fluxsource", "gitrepository", "helmchart", "helmrelease", "helmrepository"],
      "ocirepository",
      ...["lifecycle", "localcluster", "metrics", "registrationtoken", "replica"],
    ],
    // What knows all front ends.
    ["registry"],
    // Servers.
    [
      ...[
        "agentserver",
        "dashboard",
        "dispatch",
        "enrolment",
        "fleetview",
        "receiver",
        "replicalink",
      ],
      ...["requests", "webhook"],
    ],
    ["leader"],
    ["parts.ts"],
    ["serve-dashboard.ts"],
    ["serve.ts"],
    ["main.ts"],
  ],
  agent: [
    ["config.ts", "errors", "leader"],
    ["hubclient", "impersonation", "inventory", "process", "record", "storage"],
    ["assignment", "helm", "identity"],
    [
      ...["chartbuild", "crds", "dependencies", "downstream", "drift", "namespace", "postrender"],
      ...["readiness", "referenced", "release", "templates"],
    ],
    ["reader", "report", "values"],
    ["action"],
    // Active parts: releases, and the connection to the hub.
    ["connection", "engine", "requests"],
    ["installer.ts", "simulation"],
    ["active-agent.ts"],
    ["main.ts"],
  ],
  local: [
    ["errors.ts"],
    ["config.ts", "files"],
    ["process"],
    ["binaries", "state"],
    ["control-plane", "images"],
    ["pods", "provider", "registries"],
  ],
  dashboard: [
    ["address", "api", "field", "message", "scroll", "state", "text", "time"],
    ["badge", "canvas", "requests", "session"],
    ["fleet"],
    ["grouping"],
    ["detail", "list", "map", "matrix", "palette", "versions"],
    ["app", "cluster", "events", "overview", "release", "source"],
    ["shell"],
    ["main.tsx"],
  ],
  cli: [
    ["config.ts", "errors.ts"],
    ["fleet"],
    ["simulate", "uninstall"],
    ["commands"],
    ["main.ts"],
  ],
};
