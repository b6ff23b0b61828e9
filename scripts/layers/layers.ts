/**
 * The allowed direction of imports. `npm run check` enforces it, for type imports too, and also: no cycles between files or
 * nodes, and imports of another folder go through its index.ts. A node is a folder in <package>/src, or a
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
  cli: ["agent", "hub", "local", "shared"],
  dashboard: ["shared"],
  e2e: ["agent", "cli", "hub", "local", "proto", "shared"],
};

/** Packages whose sources lie directly in src: src is a folder like others, with the entry point src/index.ts. */
export const flatPackages: readonly string[] = ["proto"];

/**
 * Packages whose folders in src are groups of folders. Another group is imported through the index.ts of the group, and inside of a
 * group every file is open to the others.
 */
export const groupedPackages: readonly string[] = ["hub", "agent"];

/**
 * The layers of each package, lowest first: a node imports from its own layer and those below it. `a` includes all folders
 * in `a`, unless `a/b` has a layer of its own.
 */
export const layers: Readonly<Record<string, readonly (readonly string[])[]>> = {
  shared: [
    ["runtime/errors"],
    ["runtime", "text"],
    ["kubernetes/objects"],
    ["kubernetes/selector"],
    ["kubernetes/client"],
    ["kubernetes/cache"],
    ["kubernetes"],
    ["api", "charts"],
  ],
  hub: [
    ["config.ts", "base/errors", "console/oidc/config"],
    ["base"],
    // Pure rules, and what reads the cluster for them.
    ["rules"],
    ["sources"],
    ["events"],
    ["frontends"],
    ["rollout"],
    ["link"],
    ["fleet"],
    ["console"],
    ["process/fleetlease", "process/leader"],
    ["process"],
    ["parts.ts"],
    ["serve-dashboard.ts"],
    ["serve.ts"],
    ["main.ts"],
  ],
  agent: [
    ["config.ts", "base/errors"],
    ["base"],
    ["sandbox"],
    ["state"],
    ["helm"],
    ["observe"],
    ["inputs"],
    ["helmfile"],
    ["release"],
    ["plan"],
    ["link"],
    ["process"],
    ["installer.ts"],
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
    ["rollout"],
    ["app", "cluster", "events", "overview", "release", "source"],
    ["shell"],
    ["main.tsx"],
  ],
  cli: [
    ["config.ts", "errors.ts"],
    ["fleet"],
    ["rollout", "simulate", "uninstall"],
    ["commands"],
    ["main.ts"],
  ],
};
