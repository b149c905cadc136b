/** The gateway's address as the browser sees it, with the path of a proxy in front of it: `https://host.example/gateway`. */
export const gatewayUrl = (): string => window.location.origin + window.location.pathname.replace(/\/ui\/?$/, '');
