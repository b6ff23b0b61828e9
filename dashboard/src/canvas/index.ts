export { type Palette, readPalette } from "./palette.ts";
export { Tip } from "./tip.tsx";
export { useSize } from "./use-size.ts";
export { useTheme } from "./use-theme.ts";
