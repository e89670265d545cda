export { mayRound, parseExactly, withoutStrings } from "./json.js";
export { encodePet, encodePets, encodeNewPet, readPet, readPets } from "./pet-json.js";
