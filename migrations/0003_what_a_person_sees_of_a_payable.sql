ALTER TABLE "payable" ADD COLUMN "closed_as" text;--> statement-breakpoint
ALTER TABLE "payable" ADD COLUMN "expires_at" timestamp (3) with time zone;--> statement-breakpoint
ALTER TABLE "payable" ADD COLUMN "number" text;--> statement-breakpoint
ALTER TABLE "payable" ADD COLUMN "due_at" timestamp (3) with time zone;--> statement-breakpoint
ALTER TABLE "payable" ADD COLUMN "page_url" text;