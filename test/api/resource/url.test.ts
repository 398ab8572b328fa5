import { describe, expect, it } from "vitest";
import { resourceUrl } from "../../../api/resource/url.ts";

const baseUrl = "https://pay.example";
const strictly = (text: string) => resourceUrl(text, { baseUrl, allowLocalTargets: false });
const locally = (text: string) => resourceUrl(text, { baseUrl, allowLocalTargets: true });

describe("the URL of a resource", () => {
  it("is public https, in the form it is found by", () => {
    expect(strictly("https://API.example.com:443/a/./b")).toBe("https://api.example.com/a/b");
    expect(strictly("https://8.8.8.8/")).toBe("https://8.8.8.8/");
    expect(strictly("https://[2606:4700::1111]/")).toBe("https://[2606:4700::1111]/");
  });

  it.each([
    "http://api.example.com/",
    "https://localhost/",
    "https://localhost./",
    "https://a.localhost/",
    "https://printer.local/",
    "https://metadata.google.internal/",
    "https://intranet/",
    "https://127.0.0.1/",
    "https://127.1/",
    "https://2130706433/",
    "https://0x7f000001/",
    "https://0177.0.0.1/",
    "https://0.0.0.0/",
    "https://10.1.2.3/",
    "https://172.16.0.1/",
    "https://192.168.1.1/",
    "https://169.254.169.254/latest/meta-data",
    "https://100.64.0.1/",
    "https://224.0.0.1/",
    "https://255.255.255.255/",
    "https://[::1]/",
    "https://[::]/",
    "https://[::ffff:127.0.0.1]/",
    "https://[::ffff:a00:1]/",
    "https://[64:ff9b::a00:1]/",
    "https://[2002:a00:1::]/",
    "https://[fd00::1]/",
    "https://[fe80::1]/",
    "https://[ff02::1]/",
    "https://１２７.0.0.1/",
  ])("is not %s, unless local targets are allowed", (text) => {
    expect(() => strictly(text)).toThrow(/url_not_allowed/);
    expect(locally(text)).toMatch(/^https?:\/\//);
  });

  it.each([
    "",
    "weather",
    "/weather",
    "ftp://a.example/",
    "file:///etc/passwd",
    "https://user@a.example/",
    "https://user:pw@a.example/",
    "https://a.example/?city=Oslo",
    "https://a.example/?",
    "https://a.example/#top",
    "https://a.example/#",
    "https://",
  ])("is never %s", (text) => {
    expect(() => locally(text)).toThrow(/url_not_allowed/);
  });

  it("is no longer than it can be called and found by, escapes included", () => {
    const most = `https://api.example.com/${"a".repeat(2_024)}`;
    expect(strictly(most)).toBe(most);
    for (const text of [`${most}a`, `https://api.example.com/${"é".repeat(400)}`])
      expect(() => locally(text)).toThrow(/url_not_allowed/);
  });
});
