/** The list of what an image contains, as SPDX 2.3. Pure. */
import { createHash } from "node:crypto";

export type Component =
  | { readonly kind: "npm" | "golang" | "generic"; readonly name: string; readonly version: string }
  | {
      readonly kind: "deb";
      readonly name: string;
      readonly version: string;
      readonly architecture: string;
      /** The release of Debian. */
      readonly release: string;
    };

export interface Sbom {
  /** The name of the image. */
  readonly name: string;
  readonly version: string;
  readonly components: readonly Component[];
}

/** Fixed, so that the same image has the same bytes. */
const created = "1980-01-01T00:00:00Z";

/** JSON; the same for the same components. */
export function formatSbom({ name, version, components }: Sbom): string {
  const packages = components.map((each) => ({
    SPDXID: `SPDXRef-${digest(packageUrl(each))}`,
    name: each.name,
    versionInfo: each.version,
    downloadLocation: "NOASSERTION",
    filesAnalyzed: false,
    externalRefs: [
      {
        referenceCategory: "PACKAGE-MANAGER",
        referenceType: "purl",
        referenceLocator: packageUrl(each),
      },
    ],
  }));
  const document = {
    spdxVersion: "SPDX-2.3",
    dataLicense: "CC0-1.0",
    SPDXID: "SPDXRef-DOCUMENT",
    name: `${name}-${version}`,
    documentNamespace: `https://flotilla.dev/sbom/${name}/${version}/${digest(JSON.stringify(packages))}`,
    creationInfo: { created, creators: ["Tool: flotilla"] },
    packages,
    relationships: packages.map(({ SPDXID }) => ({
      spdxElementId: "SPDXRef-DOCUMENT",
      relationshipType: "DESCRIBES",
      relatedSpdxElement: SPDXID,
    })),
  };
  return `${JSON.stringify(document, undefined, 2)}\n`;
}

/** As https://github.com/package-url/purl-spec has it. */
export function packageUrl(component: Component): string {
  const { kind, name, version } = component;
  const encoded = name.split("/").map(encodeURIComponent).join("/");
  switch (kind) {
    case "deb":
      return `pkg:deb/debian/${encoded}@${encodeURIComponent(version)}?arch=${component.architecture}&distro=${component.release}`;
    default:
      return `pkg:${kind}/${encoded}@${encodeURIComponent(version)}`;
  }
}

/** Go itself and the modules of a program, from the output of `go version -m`. */
export function goComponents(buildInfo: string): readonly Component[] {
  const lines = buildInfo.split("\n").map((line) => line.split("\t"));
  const go = /: go(\S+)/.exec(buildInfo)?.[1];
  const modules = lines.flatMap(([, what, name = "", version = ""]): readonly Component[] =>
    what === "dep" || what === "mod" ? [{ kind: "golang", name, version }] : [],
  );
  return [
    ...(go === undefined ? [] : [{ kind: "golang", name: "stdlib", version: go } as const]),
    ...modules,
  ];
}

function digest(text: string): string {
  return createHash("sha256").update(text).digest("hex").slice(0, 16);
}
