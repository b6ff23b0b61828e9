import { describe, expect, test } from "vitest";
import { pathInSource } from "./index.ts";

describe("the path of a chart in its source", () => {
  test.each([
    ["charts/shop", "charts/shop"],
    ["./charts/shop/", "charts/shop"],
    ["/charts/shop", "charts/shop"],
    ["charts/../shop", "shop"],
    ["./", "."],
    ["", "."],
    ["..", undefined],
    ["../shop", undefined],
    ["charts/../../shop", undefined],
    ["/../shop", undefined],
    ["a\0b", undefined],
    ["..shop", "..shop"],
  ])("%j is %j", (path, expected) => {
    expect(pathInSource(path)).toBe(expected);
  });

  test("a relative path may go up within the source only", () => {
    expect(pathInSource("../common", "charts/shop")).toBe("charts/common");
    expect(pathInSource("../../../common", "charts/shop")).toBeUndefined();
  });
});
