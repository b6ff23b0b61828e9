export { type CrdPolicy, type CrdRetention, createCrdRetention } from "./crd-retention.ts";
