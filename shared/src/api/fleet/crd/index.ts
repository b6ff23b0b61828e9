export { allCrds, type CustomResourceDefinition, crdOf, renderCrd } from "./crds.ts";
export { column, type KindDefinition, kinds, type PrinterColumn } from "./kinds.ts";
