/** The rules of layers.ts, as dependency-cruiser has them. Cycles of folders are found by folder-cycles.ts. */
import type { IForbiddenRuleType } from "dependency-cruiser";
import { flatPackages, groupedPackages, layers, packageImports } from "./layers.ts";

/** Tests, and what only tests import. */
const test = "\\.test\\.ts$|/testing/";
/** Programs of their own, which load what they need and not a whole group. */
const program = "(-main|reader-task)\\.ts$";
/** Generated sources have no entry point: their package imports them directly. */
const generated = "/generated/";

/** All rules. */
export function forbidden(): IForbiddenRuleType[] {
  return [...packageRules(), ...externalRules, fileCycles, ...layerRules(), ...entryPointRules];
}

const fileCycles: IForbiddenRuleType = {
  name: "no-file-cycle",
  severity: "error",
  comment: "files do not import each other, directly or through others",
  from: {},
  to: { circular: true },
};

const externalRules: readonly IForbiddenRuleType[] = [
  {
    name: "kubernetes-types-only",
    severity: "error",
    comment: "@kubernetes/client-node is for its types (import type): at run time it costs memory",
    from: { pathNot: "^e2e/" },
    to: { path: "(^|/)@kubernetes/client-node(/|$)", dependencyTypesNot: ["type-only"] },
  },
  {
    name: "no-tests-in-production",
    severity: "error",
    comment: "what runs in production imports neither tests nor test doubles",
    from: { path: "^[^/]+/src/", pathNot: `^e2e/|${test}` },
    to: { path: test },
  },
];

function packageRules(): IForbiddenRuleType[] {
  const all = Object.keys(packageImports);
  return all.flatMap((name) => {
    const others = all.filter((other) => other !== name && !packageImports[name]?.includes(other));
    if (others.length === 0) return [];
    return {
      name: `${name}-imports`,
      severity: "error" as const,
      comment: `${name} does not import ${others.join(", ")}`,
      from: { path: `^${name}/` },
      to: { path: `^(${others.join("|")})/` },
    };
  });
}

function layerRules(): IForbiddenRuleType[] {
  return Object.entries(layers).flatMap(([name, all]) => {
    return all.slice(0, -1).map((nodes, rank): IForbiddenRuleType => {
      const below = all.slice(0, rank + 1).flat();
      const above = all.slice(rank + 1).flat();
      return {
        name: `${name}-layer-${rank + 1}`,
        severity: "error",
        comment: `imports point downwards: ${nodes.join(", ")} must not import from a layer above`,
        from: {
          path: nodes.map((n) => pathOf(name, n)),
          pathNot: [...inner(name, nodes, all), test],
        },
        to: { path: above.map((n) => pathOf(name, n)), pathNot: inner(name, above, [below]) },
      };
    });
  });
}

/** The nodes of `all` that lie in one of `nodes` and have a layer of their own. */
function inner(
  name: string,
  nodes: readonly string[],
  all: readonly (readonly string[])[],
): string[] {
  return all
    .flat()
    .filter((node) => nodes.some((outer) => node !== outer && node.startsWith(`${outer}/`)))
    .map((node) => pathOf(name, node));
}

function pathOf(name: string, node: string): string {
  return node.endsWith(".ts")
    ? `^${name}/src/${node.replaceAll(".", "\\.")}$`
    : `^${name}/src/${node}/`;
}

const grouped = groupedPackages.join("|");
const entryPointComment = "another folder is imported through its index.ts";
const groupComment = "another group is imported through its index.ts";
/** The node of a file ($1): its folder. A file that lies directly in src reaches other such files. */
const entryPointRules: readonly IForbiddenRuleType[] = [
  ...["^([^/]+/src/.+)/[^/]+$", "^([^/]+/src)/[^/]+$"].map(
    (file): IForbiddenRuleType => ({
      name: "entry-point",
      severity: "error",
      comment: entryPointComment,
      // Tests of a package may open its folders.
      from: { path: file, pathNot: `^e2e/|${test}|^(${grouped})/` },
      to: {
        path: "^[^/]+/src/.+/[^/]+$",
        pathNot: ["^$1/[^/]+$", "/index\\.ts$", generated, "^e2e/"],
      },
    }),
  ),
  {
    name: "entry-point-of-group",
    severity: "error",
    comment: groupComment,
    from: { path: `^(${grouped})/src/([^/]+)/.+$`, pathNot: `${test}|${program}` },
    to: { path: "^$1/src/.+/[^/]+$", pathNot: ["^$1/src/$2/", "/index\\.ts$", generated] },
  },
  {
    name: "entry-point-of-group",
    severity: "error",
    comment: groupComment,
    from: { path: `^(${grouped})/src/[^/]+$`, pathNot: test },
    to: { path: "^$1/src/.+/[^/]+$", pathNot: ["/index\\.ts$", generated] },
  },
  {
    name: "program-without-groups",
    severity: "error",
    comment: "a program of its own loads no whole group, also not through others",
    from: { path: `^(${grouped})/src/.+-main\\.ts$` },
    to: { path: `^(${grouped})/src/[^/]+/index\\.ts$`, reachable: true },
  },
  {
    name: "entry-point-of-package",
    severity: "error",
    comment: "another package is imported through the entry points that its package.json exports",
    from: { path: "^([^/]+)/" },
    to: {
      path: "^[^/]+/src/.+/[^/]+$",
      pathNot: ["^$1/", "/index\\.ts$", "^e2e/"],
    },
  },
  {
    name: "entry-point-of-flat-package",
    severity: "error",
    comment: entryPointComment,
    from: { pathNot: `^(${flatPackages.join("|")})/` },
    to: { path: `^(${flatPackages.join("|")})/src/(?!index\\.ts$)[^/]+$` },
  },
];
