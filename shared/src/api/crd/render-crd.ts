/** A CRD as the text of a YAML file. */
import { stringify } from "yaml";
import type { CustomResourceDefinition } from "./crds.ts";

export function renderCrd(crd: CustomResourceDefinition): string {
  // Anchors are legal YAML and nothing that people expect in a manifest.
  return stringify(crd, { aliasDuplicateObjects: false, lineWidth: 120 });
}
