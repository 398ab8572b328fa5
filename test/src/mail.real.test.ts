/** The service with a mail server of the operator's, told by environment only. */
import { afterAll, beforeAll, expect, it } from "vitest";
import { until } from "../support/house.ts";
import { type SmtpServer, startSmtp } from "../support/smtp.ts";
import { call, type Deployment, dataFolder, exists, killAll, startDeployment } from "./service.ts";

let smtp: SmtpServer;
let folder: Awaited<ReturnType<typeof dataFolder>>;
let service: Deployment;
beforeAll(async () => {
  smtp = await startSmtp();
  folder = await dataFolder();
  service = await startDeployment(folder.dataDir, {
    SMTP_URL: smtp.url,
    FAREBOX_MAIL_FROM: "notices@pay.example",
  });
});
afterAll(async () => {
  await killAll();
  await folder.remove();
  await smtp.stop();
});

it("sends its mail there, from the operator's address, and writes none to files", async () => {
  const { baseUrl, secretKey } = service.dev;
  const headers = { Authorization: `Bearer ${secretKey}`, "Content-Type": "application/json" };
  const change = (contactEmail: string) =>
    call(`${baseUrl}/v1/merchant`, { method: "PATCH", headers, body: JSON.stringify({ contactEmail }) });
  expect((await change("old@shop.example")).status).toBe(200);
  expect((await change("new@shop.example")).status).toBe(200);
  await until(async () => smtp.arrived.length > 0, "the old address hears of it");
  expect(smtp.arrived).toMatchObject([
    {
      from: "notices@pay.example",
      to: ["old@shop.example"],
      email: {
        from: { name: "Farebox", address: "notices@pay.example" },
        subject: "Your contact address was changed",
        messageId: expect.stringMatching(/^<mail_[0-9A-Z]{26}@pay\.example>$/),
      },
    },
  ]);
  expect(await exists(`${folder.dataDir}/mail`)).toBe(false);
  expect(service.stdout()).not.toContain("Mail  ");
  service.signal("SIGTERM");
  expect(await service.ended).toMatchObject({ code: 0 });
});
