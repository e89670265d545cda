import { request } from "node:http";

/**
 * Lists a pet with this secret, and resolves to the status of the response; 0 when none came.
 * @param {import("node:http").Agent} agent
 * @param {string} url
 * @param {string} secret
 * @returns {Promise<number>}
 */
export function get(agent, url, secret) {
  return new Promise((resolve) => {
    const headers = { authorization: `Bearer ${secret}` };
    const sent = request(`${url}/pets?limit=1`, { agent, headers }, (response) => {
      response.resume().on("end", () => resolve(response.statusCode ?? 0));
    });
    sent.on("error", () => resolve(0));
    sent.end();
  });
}
