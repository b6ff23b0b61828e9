/** Finds the imports that break a rule of layers.ts. */
import { existsSync } from "node:fs";
import { join } from "node:path";
import { cruise, type IDependency, type IModule } from "dependency-cruiser";
import { folderCycles, nodeOf } from "./folder-cycles.ts";
import { layers, packageImports } from "./layers.ts";
import { forbidden } from "./rules.ts";

/** One sentence for each broken rule, in the packages below `root`. */
export async function layerViolations(root: string): Promise<readonly string[]> {
  const folders = Object.keys(packageImports)
    .flatMap((name) => ["src", "bench", "generate"].map((folder) => `${name}/${folder}`))
    .filter((folder) => existsSync(join(root, folder)));
  const { output } = await cruise(
    folders,
    {
      baseDir: root,
      validate: true,
      ruleSet: { forbidden: forbidden() },
      // Imports of types count.
      tsPreCompilationDeps: true,
      doNotFollow: { path: "(^|/)node_modules/" },
      moduleSystems: ["es6"],
    },
    { exportsFields: ["exports"], conditionNames: ["import", "node"], extensions: [".ts", ".js"] },
  );
  if (typeof output === "string") throw new Error(`dependency-cruiser printed ${output}`);
  const { modules, summary } = output;
  const unresolved = modules.flatMap(unresolvedImports);
  const violations = summary.violations.map(({ rule, from, to, cycle }) => {
    const comment = summary.ruleSetUsed?.forbidden?.find(({ name }) => name === rule.name)?.comment;
    const way = cycle === undefined ? to : cycle.map(({ name }) => name).join(" -> ");
    return `${rule.name}: ${from} -> ${way}: ${comment ?? "forbidden"}`;
  });
  return [
    ...unresolved,
    ...violations,
    ...cyclesBetweenFolders(modules),
    ...nodesWithoutLayer(modules),
  ];
}

function unresolvedImports({ source, dependencies }: IModule): readonly string[] {
  return dependencies
    .filter(({ couldNotResolve, module }) => couldNotResolve && /^[.@]/.test(module))
    .map(({ module }) => `unresolved: ${source} -> ${module}: no such file or entry point`);
}

function cyclesBetweenFolders(modules: readonly IModule[]): readonly string[] {
  const imports = modules.filter(({ source }) => isProduction(source)).flatMap(importsOf);
  return folderCycles(imports).map(({ nodes, imports: edges }) => {
    const list = edges.map(({ from, to }) => `\n  ${from} -> ${to}`).join("");
    return `no-folder-cycle: ${nodes.join(", ")}: folders do not import each other, directly or through others${list}`;
  });
}

function nodesWithoutLayer(modules: readonly IModule[]): readonly string[] {
  const nodes = new Set(
    modules
      .map(({ source }) => source)
      .filter((source) => isProduction(source))
      .map(nodeOf),
  );
  return [...nodes].flatMap((node) => {
    const [name = "", folder, ...path] = node.split("/");
    const known = layers[name]?.flat();
    if (known === undefined || folder !== "src") return [];
    const inner = path.join("/");
    if (known.some((layer) => inner === layer || inner.startsWith(`${layer}/`))) return [];
    return `layer-missing: ${node} has no layer in scripts/layers/layers.ts`;
  });
}

function importsOf({ source, dependencies }: IModule) {
  return dependencies
    .filter((dependency: IDependency) => isProduction(dependency.resolved))
    .map(({ resolved }) => ({ from: source, to: resolved }));
}

function isProduction(path: string): boolean {
  return /^[^/]+\/(src|bench|generate)\//.test(path) && !/\.test\.ts$|\/testing\//.test(path);
}
