export { SourcePage } from "./source-page.tsx";
