export { endOfString, mayRound, parseExactly } from "./json.js";
export { encodePet, encodePets, encodeNewPet, readPet, readPets } from "./pet-json.js";
