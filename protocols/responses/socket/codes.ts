/** The code of an error that is the connection's: it has lived too long. Source: OpenAI guide, "WebSocket mode", "Errors". */
export const connectionOverCode = 'websocket_connection_limit_reached';
