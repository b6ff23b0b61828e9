export type { HelmfileAddress } from "./address.ts";
export { formatHelmfileAddress } from "./format-address.ts";
export { maskAddress } from "./mask-address.ts";
export { type ParsedAddress, parseHelmfileAddress } from "./parse-address.ts";
