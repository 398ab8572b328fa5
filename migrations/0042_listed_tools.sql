-- Why: a resource whose bazaar block says that it is a tool of an MCP server was listed as one over HTTP, and type=mcp found
-- nothing. Readers filter on it.
-- Locks: rows that change, which are few. Backfill: here; where none is listed nothing changes.
UPDATE "listing" SET "extensions" = array_append("listing"."extensions", 'mcp')
FROM "payable"
WHERE "payable"."id" = "listing"."id" AND NOT "listing"."extensions" @> ARRAY['mcp']
  AND "payable"."extensions" #>> '{bazaar,info,input,type}' = 'mcp';
