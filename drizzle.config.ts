import { defineConfig } from "drizzle-kit";

export default defineConfig({
  dialect: "postgresql",
  schema: ["./facilitator/**/tables.ts", "./api/*/tables.ts"],
  out: "./migrations",
});
