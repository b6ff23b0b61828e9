export { createOciSource } from "./oci-source.ts";
export { createOciRegistry } from "./registry.ts";
export { createRegistryAuth } from "./registry-auth.ts";
