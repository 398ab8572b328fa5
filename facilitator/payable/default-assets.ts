/** USDC contracts that current x402 clients pay without being told to, by network. Lower case. Source: x402.md §11. */
const defaults: Readonly<Record<string, string>> = {
  "eip155:1": "0xa0b86991c6218b36c1d19d4a2e9eb0ce3606eb48",
  "eip155:8453": "0x833589fcd6edb6e08f4c7c32d4f71b54bda02913",
  "eip155:84532": "0x036cbd53842c5426634e7929541ec2318f3dcf7e",
  "eip155:137": "0x3c499c542cef5e3811e1192ce70d8cc03d5c3359",
  "eip155:43114": "0xb97ef9ef8734c71904d8002f8b6bc66dd9c48a6e",
  "eip155:42161": "0xaf88d065e77c8cc2239327c5eda3a432268e5831",
  "eip155:421614": "0x75faf114eafb1bdbe2f0316df893fd58ce46aa4d",
  "eip155:42220": "0xceba9300f2b948710d2653dd7b07f33a8b32118c",
  "eip155:11142220": "0x01c5c0122039549ad1493b8220cabedd739bc44e",
  "eip155:143": "0x754704bc059f8c67012fed69bc8a327a5aafb603",
  "eip155:1329": "0xe15fc38f6d8c56af07bbcbe3baf5708a2bf42392",
  "eip155:1328": "0x4fcf1784b31630811181f670aea7a7bef803eaed",
  "eip155:50": "0xfa2958cb79b0491cc627c1557f441ef849ca8eb1",
  "eip155:51": "0xb5ab69f7bbada22b28e79c8ffaece55ef1c771d4",
};

/** Whether a client with default spend controls pays in this token. `asset` in lower case. */
export function isDefaultAsset(network: string, asset: string): boolean {
  return defaults[network] === asset;
}
