/** @jsxRuntime automatic */
/** @jsxImportSource hono/jsx */
import type { Brand } from "../../merchant/verbs/brand.ts";

interface SellerProps {
  readonly merchant: { readonly name: string; readonly city: string; readonly countryCode: string };
  readonly brand: Brand;
}

/** Who is paid, at the head of a page. */
export function Seller({ merchant, brand }: SellerProps) {
  const { name, city, countryCode } = merchant;
  return (
    <>
      {brand.logo ? <img class="logo" src={brand.logo} alt="" /> : null}
      <p class="merchant">{name}</p>
      <p class="place">
        {city}, {countryCode}
      </p>
    </>
  );
}
