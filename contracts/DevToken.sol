// SPDX-License-Identifier: Apache-2.0
pragma solidity ^0.8.28;

import {Ownable} from "@openzeppelin/contracts/access/Ownable.sol";
import {Initializable} from "@openzeppelin/contracts/proxy/utils/Initializable.sol";
import {Pausable} from "@openzeppelin/contracts/utils/Pausable.sol";
import {Authorizations} from "./Authorizations.sol";

/// The token of the local chain: six decimals, ERC-3009, an owner who mints, pauses and blocks, as USDC's may.
/// One implementation stands behind a proxy per currency; `initialize` gives each its name and its domain.
contract DevToken is Authorizations, Initializable, Ownable, Pausable {
    error AccountBlocked(address account);

    event Blocked(address indexed account);
    event Unblocked(address indexed account);

    mapping(address account => bool blocked) private _blocked;

    constructor() Ownable(msg.sender) {
        _disableInitializers();
    }

    function initialize(
        string calldata name_,
        string calldata symbol_,
        string calldata version_,
        address owner_
    ) external initializer {
        _setDomain(name_, symbol_, version_);
        _transferOwnership(owner_);
    }

    function mint(address to, uint256 value) external onlyOwner {
        _mint(to, value);
    }

    function pause() external onlyOwner {
        _pause();
    }

    function unpause() external onlyOwner {
        _unpause();
    }

    function block(address account) external onlyOwner {
        _blocked[account] = true;
        emit Blocked(account);
    }

    function unblock(address account) external onlyOwner {
        _blocked[account] = false;
        emit Unblocked(account);
    }

    function isBlocked(address account) public view returns (bool) {
        return _blocked[account];
    }

    function _update(address from, address to, uint256 value) internal override whenNotPaused {
        require(!_blocked[from], AccountBlocked(from));
        require(!_blocked[to], AccountBlocked(to));
        super._update(from, to, value);
    }

    function _consumeNonce(address authorizer, bytes32 nonce) internal override whenNotPaused {
        super._consumeNonce(authorizer, nonce);
    }
}
