const shim = new URL("./fs-with-glob.mjs", import.meta.url).href;

/** Hands the suite's own files the shim in place of `fs`; everybody else gets the real one. */
export function resolve(specifier, context, next) {
  const isSuite = /\/node_modules\/(?:@modelcontextprotocol\/conformance|mcp-conformance-2026)\/dist\//;
  return specifier === "fs" && isSuite.test(context.parentURL ?? "")
    ? { url: shim, shortCircuit: true }
    : next(specifier, context);
}
