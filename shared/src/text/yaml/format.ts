/** YAML for people, such as a diff of objects: sorted keys, in block style, so that equal values have equal lines. */
import { stringify } from "yaml";
import { isRawNumber } from "../json/index.ts";

/** `value`: JSON, with exact numbers. */
export function formatYaml(value: unknown): string {
  return stringify(value, exactNumbers, {
    sortMapEntries: true,
    aliasDuplicateObjects: false,
    lineWidth: 0,
  });
}

function exactNumbers(_: unknown, value: unknown): unknown {
  return isRawNumber(value) ? BigInt(JSON.stringify(value)) : value;
}
