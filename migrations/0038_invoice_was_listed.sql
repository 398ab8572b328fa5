ALTER TABLE "invoice" ADD COLUMN "was_listed" boolean DEFAULT false NOT NULL;--> statement-breakpoint
UPDATE "invoice" SET "was_listed" = true WHERE "listed";
